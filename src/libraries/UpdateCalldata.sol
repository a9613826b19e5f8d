// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {IDataset} from "../interfaces/IDataset.sol";

/// @title UpdateCalldata
/// @notice Turns the calldata of an update into that of a verification. Both have the same arguments, so that only the
/// first four bytes differ.
library UpdateCalldata {
    /// @notice The calldata is not that of an update that was asked for. A batch updates many keys, and cannot be
    /// verified: request an update of the single key.
    error NotAnUpdate(bytes4 selector);

    /// @notice The update is of another key than the asked one.
    error WrongKey(bytes key, bytes asked);

    /// @notice Returns the calldata of the verification. Reverts unless the update is one of `key`.
    /// @param update The calldata of `update` or `updateNotAvailable`.
    /// @param key The key that the update must have.
    function fromUpdate(bytes calldata update, bytes memory key) internal pure returns (bytes memory verification) {
        bytes4 selector = _verifierOf(selectorOf(update));
        // The dataset's decoder reads the first argument in the same way, so that both mean the same key.
        bytes memory updated = abi.decode(update[4:], (bytes));
        if (keccak256(updated) != keccak256(key)) revert WrongKey(updated, key);
        verification = abi.encodePacked(selector, update[4:]);
    }

    /// @notice Reverts unless the calldata is that of one of the dataset's three updates.
    function requireUpdate(bytes calldata update) internal pure {
        bytes4 selector = selectorOf(update);
        if (selector == IDataset.update.selector || selector == IDataset.updateNotAvailable.selector) return;
        if (selector != IDataset.updateBatch.selector) revert NotAnUpdate(selector);
    }

    /// @notice Returns the first four bytes; 0 if there are fewer.
    function selectorOf(bytes calldata data) internal pure returns (bytes4 selector) {
        if (data.length < 4) return 0;
        // Without the annotation of memory safety, because Solidity 0.8.4 does not know it, and nothing here is in memory.
        assembly {
            selector := and(calldataload(data.offset), shl(224, 0xffffffff))
        }
    }

    function _verifierOf(bytes4 selector) private pure returns (bytes4) {
        if (selector == IDataset.update.selector) return IDataset.verify.selector;
        if (selector == IDataset.updateNotAvailable.selector) return IDataset.verifyNotAvailable.selector;
        revert NotAnUpdate(selector);
    }
}
