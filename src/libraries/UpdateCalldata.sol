// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "../interfaces/IDataset.sol";

/// @title UpdateCalldata
/// @notice Checks the calldata of an update, and turns it into that of a verification. Both have the same arguments, so
/// that only the first four bytes differ.
library UpdateCalldata {
    /// @notice The calldata, which begins with `selector`, does not call `update` or `updateNotAvailable`, nor, where
    /// it is stored, `updateBatch`. A batch updates many keys and cannot be verified: request an update of the single
    /// key.
    error NotAnUpdate(bytes4 selector);

    /// @notice The update is of `key`, but one of `asked` is needed: request it.
    error UpdateOfAnotherKey(bytes key, bytes asked);

    /// @notice Returns the calldata of the verification. Reverts with `NotAnUpdate` or `UpdateOfAnotherKey` unless the
    /// update is one of `key`.
    /// @param update The calldata of `update` or `updateNotAvailable`.
    /// @param key The key that the update must have.
    function toVerificationCalldata(bytes calldata update, bytes memory key)
        internal
        pure
        returns (bytes memory verification)
    {
        bytes4 selector = _verifierOf(selectorOf(update));
        if (!_isOf(update, key)) revert UpdateOfAnotherKey(abi.decode(update[4:], (bytes)), key);
        verification = update;
        assembly ("memory-safe") {
            let start := add(verification, 0x20)
            mstore(start, or(selector, shr(32, shl(32, mload(start)))))
        }
    }

    /// @notice Reverts with `NotAnUpdate` unless the calldata calls one of the dataset's three update functions.
    function requireUpdate(bytes calldata update) internal pure {
        bytes4 selector = selectorOf(update);
        if (selector == IDataset.update.selector || selector == IDataset.updateNotAvailable.selector) return;
        if (selector != IDataset.updateBatch.selector) revert NotAnUpdate(selector);
    }

    /// @notice Returns the first four bytes; 0 if there are fewer.
    function selectorOf(bytes calldata data) internal pure returns (bytes4 selector) {
        if (data.length < 4) return 0;
        assembly ("memory-safe") {
            selector := and(calldataload(data.offset), shl(224, 0xffffffff))
        }
    }

    /// @dev Returns true if the first argument is the key. It is read where the dataset's decoder reads it, so that
    /// both mean the same key, and it must lie within the calldata. Plain Solidity would copy it first.
    function _isOf(bytes calldata update, bytes memory key) private pure returns (bool result) {
        assembly ("memory-safe") {
            let arguments := add(update.offset, 4)
            let offset := calldataload(arguments)
            let length := mload(key)
            // An offset of more than 64 bits could overflow below.
            if iszero(or(shr(64, offset), gt(add(add(offset, 0x24), length), update.length))) {
                let argument := add(arguments, offset)
                if eq(calldataload(argument), length) {
                    let copy := mload(0x40)
                    calldatacopy(copy, add(argument, 0x20), length)
                    result := eq(keccak256(copy, length), keccak256(add(key, 0x20), length))
                }
            }
        }
    }

    function _verifierOf(bytes4 selector) private pure returns (bytes4) {
        if (selector == IDataset.update.selector) return IDataset.verify.selector;
        if (selector == IDataset.updateNotAvailable.selector) return IDataset.verifyNotAvailable.selector;
        revert NotAnUpdate(selector);
    }
}
