// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "../interfaces/IDataset.sol";
import {Header, HeaderLibrary} from "../types/PackedUpdate.sol";
import {Calldata} from "./Calldata.sol";

/// @title UpdateCalldata
/// @notice Makes the call of a dataset that takes a packed update, whose first byte says which function that is.
library UpdateCalldata {
    /// @notice The first byte, `kind`, is not that of an update with values or without data nor, where it is stored, of a
    /// batch. A batch updates many keys and cannot be verified: request an update of the single key.
    error NotAnUpdate(uint256 kind);

    /// @notice The update is of `key`, but one of `asked` is needed: request it.
    error UpdateOfAnotherKey(bytes key, bytes asked);

    /// @notice Returns the calldata that stores an update. Reverts with `NotAnUpdate`.
    /// @param update A packed update of any kind.
    function toUpdate(bytes calldata update) internal pure returns (bytes memory) {
        uint256 kind = HeaderLibrary.read(update).kind();
        if (kind == HeaderLibrary.VALUES) return _call(IDataset.update.selector, update);
        if (kind == HeaderLibrary.NO_DATA) return _call(IDataset.updateNotAvailable.selector, update);
        if (kind == HeaderLibrary.BATCH) return _call(IDataset.updateBatch.selector, update);
        revert NotAnUpdate(kind);
    }

    /// @notice Returns the calldata that verifies an update. Reverts with `NotAnUpdate`, with `UpdateOfAnotherKey` unless
    /// the update is one of `key`, and with `IDataset.WrongLength` if it ends before its key does.
    /// @param update A packed update of one key.
    /// @param key The key that the update must have.
    function toVerification(bytes calldata update, bytes memory key) internal pure returns (bytes memory) {
        Header header = HeaderLibrary.read(update);
        uint256 kind = header.kind();
        if (kind != HeaderLibrary.VALUES && kind != HeaderLibrary.NO_DATA) revert NotAnUpdate(kind);
        bytes calldata updated = header.key(update);
        if (Calldata.hash(updated) != keccak256(key)) revert UpdateOfAnotherKey(updated, key);
        bool hasValues = kind == HeaderLibrary.VALUES;
        return _call(hasValues ? IDataset.verify.selector : IDataset.verifyNotAvailable.selector, update);
    }

    /// @dev No decoder needs the zeros with which `abi.encodeWithSelector` would pad the update.
    function _call(bytes4 selector, bytes calldata update) private pure returns (bytes memory) {
        return abi.encodePacked(selector, uint256(0x20), update.length, update);
    }
}
