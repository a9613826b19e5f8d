// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "../interfaces/IDataset.sol";

/// @notice The first word of a packed update. Its first eleven bytes are the update's header: kind (1 byte), timestamp
/// (5), tolerance (2), size of the committee (1), and length of the key or, in a batch, number of keys (2).
type Header is uint256;

using HeaderLibrary for Header global;

/// @title HeaderLibrary
/// @notice Reads the header of a packed update, whose format `IDataset` describes.
library HeaderLibrary {
    /// @dev The kinds of an update. The first two are the `QueryStatus` that its reports have.
    uint256 internal constant VALUES = 1;
    uint256 internal constant NO_DATA = 2;
    uint256 internal constant BATCH = 3;

    uint256 internal constant SIZE = 11;

    /// @notice Reads the header of an update.
    /// @dev Nothing is checked. `key` and `CursorLibrary.bitmap` find an update that ends in its header.
    function read(bytes calldata packed) internal pure returns (Header header) {
        assembly ("memory-safe") {
            header := calldataload(packed.offset)
        }
    }

    /// @notice Reads the header of an update. Reverts with `WrongKind` unless it is of the kind.
    function read(bytes calldata packed, uint256 expected) internal pure returns (Header header) {
        header = read(packed);
        if (header.kind() != expected) revert IDataset.WrongKind(header.kind(), expected);
    }

    function kind(Header header) internal pure returns (uint256) {
        return Header.unwrap(header) >> 248;
    }

    /// @return Seconds since 1970.
    function timestamp(Header header) internal pure returns (uint256) {
        return (Header.unwrap(header) >> 208) & type(uint40).max;
    }

    function toleranceBps(Header header) internal pure returns (uint256) {
        return (Header.unwrap(header) >> 192) & type(uint16).max;
    }

    /// @notice Returns the number of members of the committee.
    function members(Header header) internal pure returns (uint256) {
        return (Header.unwrap(header) >> 184) & type(uint8).max;
    }

    /// @notice Returns the length of the key in bytes; in a batch, the number of keys.
    function size(Header header) internal pure returns (uint256) {
        return (Header.unwrap(header) >> 168) & type(uint16).max;
    }

    /// @notice Returns the key. Reverts with `WrongLength` if the update ends before it does.
    function key(Header header, bytes calldata packed) internal pure returns (bytes calldata result) {
        unchecked {
            uint256 length = header.size();
            if (SIZE + length > packed.length) revert IDataset.WrongLength(packed.length, SIZE + length);
            assembly ("memory-safe") {
                result.offset := add(packed.offset, SIZE)
                result.length := length
            }
        }
    }
}

/// @notice The place in the calldata of the next item of a packed update.
type Cursor is uint256;

using CursorLibrary for Cursor global;

/// @title CursorLibrary
/// @notice Takes the items of a packed update from the calldata, one after another.
/// @dev An item may lie beyond the end of the update: whoever takes the last one calls `finish`. `ReferencePacking` in
/// test/utils is the same in plain Solidity.
library CursorLibrary {
    uint256 private constant MAX_LENGTH = 32;

    /// @notice Returns the place `offset` bytes behind the beginning of an update.
    function create(bytes calldata packed, uint256 offset) internal pure returns (Cursor cursor) {
        assembly ("memory-safe") {
            cursor := add(packed.offset, offset)
        }
    }

    /// @notice Returns the place `length` bytes further.
    function skip(Cursor cursor, uint256 length) internal pure returns (Cursor next) {
        assembly ("memory-safe") {
            next := add(cursor, length)
        }
    }

    /// @notice Returns the next `length` bytes, at most 32, as a number.
    function number(Cursor cursor, uint256 length) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := shr(sub(256, shl(3, length)), calldataload(cursor))
        }
    }

    /// @notice Returns the next byte.
    function octet(Cursor cursor) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, calldataload(cursor))
        }
    }

    /// @notice Returns the next 32 bytes.
    function word(Cursor cursor) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := calldataload(cursor)
        }
    }

    /// @notice Returns keccak256 of the next `words` words, without allocating memory.
    function hash(Cursor cursor, uint256 words) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let copy := mload(0x40)
            calldatacopy(copy, cursor, shl(5, words))
            result := keccak256(copy, shl(5, words))
        }
    }

    /// @notice Takes a bitmap of `bits` bits, at most 256, the lowest one first. Reverts with `UnusedBits` if a bit
    /// beyond them is set, and with `WrongLength` if the update ends before the bitmap does.
    function bitmap(Cursor cursor, uint256 bits, bytes calldata packed)
        internal
        pure
        returns (uint256 result, Cursor next)
    {
        unchecked {
            uint256 length = (bits + 7) >> 3;
            next = cursor.skip(length);
            next.requireWithin(packed);
            result = cursor.number(length);
            if (result >> bits != 0) revert IDataset.UnusedBits(result, bits);
        }
    }

    /// @notice Takes the claimed value: one byte with its length, then its bytes. Reverts with `TooLong`, `LeadingZero`
    /// or, if the update ends before the value does, `WrongLength`.
    /// @dev Goes through memory, or the compiler would read the value from the calldata again wherever it is used.
    function claim(Cursor cursor, bytes calldata packed) internal pure returns (bytes32 value, Cursor next) {
        unchecked {
            uint256 length = cursor.octet();
            if (length > MAX_LENGTH) cursor.refuseLength(1 + length, packed);
            next = cursor.skip(1 + length);
            assembly ("memory-safe") {
                mstore(0x00, 0)
                calldatacopy(sub(0x20, length), add(cursor, 1), length)
                value := mload(0x00)
            }
            if (length != 0 && uint256(value) >> (8 * length - 8) == 0) {
                cursor.refuseLength(1 + length, packed);
                revert IDataset.LeadingZero(_distance(cursor, packed));
            }
        }
    }

    /// @notice Takes a provider's row of a batch, without its signature: the length of its values, a bitmap of the keys
    /// without data, and the values. Writes the bitmap and the values to memory, in a word each.
    /// @param size The size of the values in memory: 32 bytes for each key.
    /// @param target The address in memory of the first word that is written.
    /// @return next The place behind the row.
    /// @return end The address in memory behind the values.
    /// @return isRefused True if `refuseRow` is to be called: the row is not in its only form.
    function row(Cursor cursor, uint256 size, uint256 target)
        internal
        pure
        returns (Cursor next, uint256 end, bool isRefused)
    {
        assembly ("memory-safe") {
            let keys := shr(5, size)
            next := add(cursor, 1)
            let missing := shr(sub(256, and(add(keys, 7), not(7))), calldataload(next))
            mstore(target, missing)
            end := add(add(target, 0x20), size)
            isRefused := iszero(iszero(shr(keys, missing)))
            next := add(next, shr(3, add(keys, 7)))
            target := add(target, 0x20)
            // Through memory, or the compiler would read it again for every use.
            calldatacopy(0x00, cursor, 0x20)
            let length := byte(0, mload(0x00))
            let shift := sub(256, shl(3, length))
            let allBits := 0
            // Four values at a time, after the first ones if their number is not a multiple of four: the loop itself
            // costs as much as a value.
            for { let first := add(target, and(size, 0x60)) } lt(target, first) { target := add(target, 0x20) } {
                let value := shr(shift, calldataload(next))
                mstore(target, value)
                allBits := or(allBits, value)
                next := add(next, length)
            }
            for {} lt(target, end) { target := add(target, 0x80) } {
                let value := shr(shift, calldataload(next))
                mstore(target, value)
                allBits := or(allBits, value)
                next := add(next, length)
                value := shr(shift, calldataload(next))
                mstore(add(target, 0x20), value)
                allBits := or(allBits, value)
                next := add(next, length)
                value := shr(shift, calldataload(next))
                mstore(add(target, 0x40), value)
                allBits := or(allBits, value)
                next := add(next, length)
                value := shr(shift, calldataload(next))
                mstore(add(target, 0x60), value)
                allBits := or(allBits, value)
                next := add(next, length)
            }
            // A length above 32 has made all values 0.
            isRefused := or(isRefused, and(iszero(iszero(length)), iszero(shr(sub(shl(3, length), 8), allBits))))
        }
    }

    /// @notice Reverts with the error for a row that is not in its only form.
    function refuseRow(Cursor cursor, uint256 keys, bytes calldata packed) internal pure {
        cursor.skip(1).bitmap(keys, packed);
        cursor.refuseLength(1 + ((keys + 7) >> 3) + keys * cursor.octet(), packed);
        revert IDataset.LeadingZero(_distance(cursor, packed));
    }

    /// @notice Reverts with `WrongLength` unless the update ends here.
    function finish(Cursor cursor, bytes calldata packed) internal pure {
        uint256 length = _distance(cursor, packed);
        if (length != packed.length) revert IDataset.WrongLength(packed.length, length);
    }

    /// @notice Reverts with `WrongLength` if the update ends before this place.
    function requireWithin(Cursor cursor, bytes calldata packed) internal pure {
        uint256 length = _distance(cursor, packed);
        if (length > packed.length) revert IDataset.WrongLength(packed.length, length);
    }

    /// @notice Reverts with the error for a reported value that is not in its only form.
    function refuse(Cursor cursor, bytes32 claimed, bytes calldata packed) internal pure {
        uint256 length = cursor.octet();
        cursor.refuseLength(1 + length, packed);
        if (cursor.skip(1).number(length) == uint256(claimed)) {
            revert IDataset.RepeatedClaim(_distance(cursor, packed));
        }
        revert IDataset.LeadingZero(_distance(cursor, packed));
    }

    /// @dev Reverts with the error for an item that ends behind the update, or whose values are too long.
    /// @param size The size of the item, whose first byte is the length of its values.
    function refuseLength(Cursor cursor, uint256 size, bytes calldata packed) internal pure {
        cursor.skip(1).requireWithin(packed);
        uint256 length = cursor.octet();
        if (length > MAX_LENGTH) revert IDataset.TooLong(length, MAX_LENGTH);
        cursor.skip(size).requireWithin(packed);
    }

    /// @dev Returns the number of bytes of the update before this place.
    function _distance(Cursor cursor, bytes calldata packed) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := sub(cursor, packed.offset)
        }
    }
}
