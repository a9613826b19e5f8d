// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {IDataset} from "../interfaces/IDataset.sol";

/// @title Verification
/// @notice Turns the calldata of an update into that of a verification. Both have the same arguments, so that only the
/// first four bytes differ.
library Verification {
    /// @notice The calldata is neither `update`'s nor `updateNotAvailable`'s. A batch cannot be verified: request an update
    /// of the single key.
    error NotVerifiable(bytes4 selector);

    /// @notice The update is of another key than the asked one. The first is keccak256 of the update's key; 0 if the
    /// calldata ends before it does.
    error WrongKey(bytes32 keyHash, bytes asked);

    /// @notice Makes an update's calldata a verification's, in place. Reverts unless it is an update of `key`.
    /// @param update The calldata of `update` or `updateNotAvailable`.
    /// @param key The key that the update must have.
    /// @return selector The selector that the update had, so that the caller can put it back by `setSelector`.
    function fromUpdate(bytes memory update, bytes memory key) internal pure returns (bytes4 selector) {
        selector = selectorOf(update);
        bytes32 keyHash = _keyHash(update);
        if (selector == IDataset.update.selector) {
            setSelector(update, IDataset.verify.selector);
        } else if (selector == IDataset.updateNotAvailable.selector) {
            setSelector(update, IDataset.verifyNotAvailable.selector);
        } else {
            revert NotVerifiable(selector);
        }
        if (keyHash != keccak256(key)) revert WrongKey(keyHash, key);
    }

    /// @notice Returns the first four bytes; 0 if there are fewer.
    function selectorOf(bytes memory data) internal pure returns (bytes4 selector) {
        if (data.length < 4) return 0;
        assembly ("memory-safe") {
            selector := and(mload(add(data, 0x20)), shl(224, 0xffffffff))
        }
    }

    /// @notice Replaces the first four bytes.
    /// @dev Assumes that there are four; the caller has checked it.
    function setSelector(bytes memory data, bytes4 selector) internal pure {
        assembly ("memory-safe") {
            let start := add(data, 0x20)
            mstore(start, or(selector, shr(32, shl(32, mload(start)))))
        }
    }

    /// @dev Returns keccak256 of the first argument, or 0 if it does not lie within the calldata. It is read as the
    /// dataset's decoder reads it, so that both mean the same key.
    function _keyHash(bytes memory update) private pure returns (bytes32 keyHash) {
        if (update.length < 0x44) return 0;
        assembly ("memory-safe") {
            let arguments := add(update, 0x24)
            // The space after the selector and the word with the key's length.
            let space := sub(mload(update), 0x24)
            let offset := mload(arguments)
            if iszero(gt(offset, space)) {
                let length := mload(add(arguments, offset))
                if iszero(gt(length, sub(space, offset))) {
                    keyHash := keccak256(add(add(arguments, offset), 0x20), length)
                }
            }
        }
    }
}
