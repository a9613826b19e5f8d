// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @notice What the reports of one round say of one key: words in calldata at equal distances, of which those of reports
/// without data for the key are missing. Points at
///     0x00 where the first word is in the calldata
///     0x20 the distance from one to the next, in bytes
///     0x40 how many words there are, at most 255
///     0x60 one bit for each word, the lowest for the first: whether it is missing
///     0x80 how many are present
type Column is uint256;

using ColumnLibrary for Column global;

/// @title ColumnLibrary
/// @notice Counts over a column without a copy of it.
library ColumnLibrary {
    /// @notice A column of which nothing is missing.
    /// @dev Assumes that the whole of it lies in the calldata; the caller has checked it.
    function create(uint256 offset, uint256 stride, uint256 words) internal pure returns (Column column) {
        assembly ("memory-safe") {
            column := mload(0x40)
            mstore(0x40, add(column, 0xa0))
            mstore(column, offset)
            mstore(add(column, 0x20), stride)
            mstore(add(column, 0x40), words)
            mstore(add(column, 0x60), 0)
            mstore(add(column, 0x80), words)
        }
    }

    /// @notice Goes on to the column whose words are one place further in the calldata.
    function advance(Column column) internal pure {
        assembly ("memory-safe") {
            mstore(column, add(mload(column), 0x20))
        }
    }

    /// @notice Says which words are missing.
    /// @param bits One for each word that is, and no others.
    function setMissing(Column column, uint256 bits) internal pure {
        uint256 left = column.count();
        unchecked {
            // Each turn clears the lowest bit.
            for (uint256 rest = bits; rest != 0; rest &= rest - 1) {
                --left;
            }
        }
        assembly ("memory-safe") {
            mstore(add(column, 0x60), bits)
            mstore(add(column, 0x80), left)
        }
    }

    /// @notice How many words there are, the missing ones too.
    function count(Column column) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(column, 0x40))
        }
    }

    /// @notice How many words are not missing.
    function present(Column column) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(column, 0x80))
        }
    }

    /// @notice One bit for each word that is missing.
    function missing(Column column) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(column, 0x60))
        }
    }

    /// @notice The word at a place, missing or not; beyond the last, whatever is there in the calldata.
    function word(Column column, uint256 index) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := calldataload(add(mload(column), mul(index, mload(add(column, 0x20)))))
        }
    }

    /// @notice Where the words that are present lie about a median: how many below it, how many above it, and how many of
    /// both farther than `reach` from it.
    /// @dev Assumes `reach` <= `median`, and that their sum does not overflow. `ReferenceMedian` in test/utils says the
    /// same in plain Solidity.
    function tally(Column column, uint256 median, uint256 reach)
        internal
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        uint256 offset;
        uint256 stride;
        assembly ("memory-safe") {
            offset := mload(column)
            stride := mload(add(column, 0x20))
        }
        (below, above, outliers) = _tally(offset, stride, column.count(), median, reach);
        uint256 rest = column.missing();
        if (rest == 0) return (below, above, outliers);
        unchecked {
            for (; rest != 0; rest >>= 1) {
                if (rest & 1 == 1) {
                    (uint256 below_, uint256 above_, uint256 outliers_) = _tally(offset, stride, 1, median, reach);
                    below -= below_;
                    above -= above_;
                    outliers -= outliers_;
                }
                offset += stride;
            }
        }
    }

    function _tally(uint256 offset, uint256 stride, uint256 words, uint256 median, uint256 reach)
        private
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        assembly ("memory-safe") {
            let lowest := sub(median, reach)
            let span := shl(1, reach)
            let end := add(offset, mul(stride, words))
            for {} lt(offset, end) { offset := add(offset, stride) } {
                let value := calldataload(offset)
                below := add(below, lt(value, median))
                above := add(above, gt(value, median))
                // Below `lowest` the difference wraps around, and is larger than any span.
                outliers := add(outliers, gt(sub(value, lowest), span))
            }
        }
    }
}
