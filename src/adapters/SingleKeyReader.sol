// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";

/// @title SingleKeyReader
/// @notice Reads one key of one dataset in `view`. An adapter reads as itself: while queries are charged, it needs a
/// subscription of its own, and then answers everybody.
/// @dev The key is part of the code, so that a read costs no storage access of the adapter's.
abstract contract SingleKeyReader {
    /// @notice The key is empty, or longer than the `max` bytes that an adapter can hold.
    error WrongKeyLength(uint256 length, uint256 max);

    uint256 private constant MAX_KEY_LENGTH = 96;

    /// @notice The dataset that is read.
    IDataset public immutable dataset;

    uint256 private immutable _keyLength;
    bytes32 private immutable _key0;
    bytes32 private immutable _key1;
    bytes32 private immutable _key2;

    constructor(IDataset dataset_, bytes memory key_) {
        uint256 length = key_.length;
        if (length == 0 || length > MAX_KEY_LENGTH) revert WrongKeyLength(length, MAX_KEY_LENGTH);
        dataset = dataset_;
        _keyLength = length;
        bytes memory padded = bytes.concat(key_, new bytes(MAX_KEY_LENGTH - length));
        (_key0, _key1, _key2) = abi.decode(padded, (bytes32, bytes32, bytes32));
    }

    /// @dev The key that is read, in ASCII.
    function _key() internal view returns (bytes memory result) {
        (uint256 length, bytes32 key0, bytes32 key1, bytes32 key2) = (_keyLength, _key0, _key1, _key2);
        assembly ("memory-safe") {
            result := mload(0x40)
            mstore(result, length)
            mstore(add(result, 0x20), key0)
            mstore(add(result, 0x40), key1)
            mstore(add(result, 0x60), key2)
            mstore(0x40, add(result, 0x80))
        }
    }

    /// @dev Returns what `dataset.read(key)` returns, and reverts as it does, with less gas and code: the key is sent
    /// from where it is in memory, after the selector and its offset.
    function _read() internal view returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) {
        (address target, bytes4 selector) = (address(dataset), IDataset.read.selector);
        assembly ("memory-safe") {
            mstore(0x40, add(mload(0x40), 0x40))
        }
        bytes memory argument = _key();
        assembly ("memory-safe") {
            let start := sub(argument, 0x24)
            mstore(start, selector)
            mstore(sub(argument, 0x20), 0x20)
            let isDone := staticcall(gas(), target, start, 0xa4, start, 0x60)
            // A call to an address without code succeeds and returns nothing.
            if iszero(and(isDone, gt(returndatasize(), 0x5f))) {
                returndatacopy(start, 0, returndatasize())
                revert(start, returndatasize())
            }
            output := mload(start)
            updatedAt := mload(add(start, 0x20))
            status := mload(add(start, 0x40))
        }
    }
}
