// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

/// @notice The values that the reports of one round have for one key: equidistant words in calldata. Words of reports
/// without data for the key are missing. Points to
///     0x00 the calldata offset of the first word
///     0x20 the distance from one word to the next, in bytes
///     0x40 the number of words, at most 255
///     0x60 a bitmap of the missing words, lowest bit first
///     0x80 the number of words that are present
type ReportedValues is uint256;

using ReportedValuesLibrary for ReportedValues global;

/// @title ReportedValuesLibrary
/// @notice Counts reported values without copying them to memory.
library ReportedValuesLibrary {
    /// @notice Creates reported values of which no word is missing.
    /// @dev Assumes that all of it lies within the calldata; the caller has checked it.
    function create(uint256 offset, uint256 stride, uint256 words) internal pure returns (ReportedValues reported) {
        assembly ("memory-safe") {
            reported := mload(0x40)
            mstore(0x40, add(reported, 0xa0))
            mstore(reported, offset)
            mstore(add(reported, 0x20), stride)
            mstore(add(reported, 0x40), words)
            mstore(add(reported, 0x60), 0)
            mstore(add(reported, 0x80), words)
        }
    }

    /// @notice Moves to the values of the next key, whose words are 32 bytes further in the calldata.
    function advance(ReportedValues reported) internal pure {
        assembly ("memory-safe") {
            mstore(reported, add(mload(reported), 0x20))
        }
    }

    /// @notice Sets which words are missing.
    /// @param bits A bitmap of the missing words, with no bits beyond the last word.
    function setMissing(ReportedValues reported, uint256 bits) internal pure {
        uint256 left = reported.count();
        unchecked {
            // Each iteration clears the lowest bit that is set.
            for (uint256 rest = bits; rest != 0; rest &= rest - 1) {
                --left;
            }
        }
        assembly ("memory-safe") {
            mstore(add(reported, 0x60), bits)
            mstore(add(reported, 0x80), left)
        }
    }

    /// @notice Returns the number of words, including the missing ones.
    function count(ReportedValues reported) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(reported, 0x40))
        }
    }

    /// @notice Returns the number of words that are present.
    function present(ReportedValues reported) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(reported, 0x80))
        }
    }

    /// @notice Returns a bitmap of the missing words.
    function missing(ReportedValues reported) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(reported, 0x60))
        }
    }

    /// @notice Returns the word at an index, missing or not. Beyond the last word, returns the calldata found there.
    function word(ReportedValues reported, uint256 index) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := calldataload(add(mload(reported), mul(index, mload(add(reported, 0x20)))))
        }
    }

    /// @notice Counts the present words below a median, above it, and (in `outliers`) more than `maxDistance` away from
    /// it.
    /// @dev Assumes `maxDistance` <= `median`, and that their sum does not overflow.
    function tally(ReportedValues reported, uint256 median, uint256 maxDistance)
        internal
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        if (reported.missing() != 0) return reported.tallyOneByOne(median, maxDistance);
        assembly ("memory-safe") {
            let offset := mload(reported)
            let stride := mload(add(reported, 0x20))
            let words := mload(add(reported, 0x40))
            let end := add(offset, mul(stride, words))
            let lowest := sub(median, maxDistance)
            let span := shl(1, maxDistance)
            // Two words at a time, after the first one if their number is odd: the loop itself costs as much as a word.
            if and(words, 1) {
                let value := calldataload(offset)
                below := lt(value, median)
                above := gt(value, median)
                // Below `lowest` the difference wraps around and exceeds any span.
                outliers := gt(sub(value, lowest), span)
                offset := add(offset, stride)
            }
            for {} lt(offset, end) { offset := add(offset, stride) } {
                let value := calldataload(offset)
                below := add(below, lt(value, median))
                above := add(above, gt(value, median))
                outliers := add(outliers, gt(sub(value, lowest), span))
                offset := add(offset, stride)
                value := calldataload(offset)
                below := add(below, lt(value, median))
                above := add(above, gt(value, median))
                outliers := add(outliers, gt(sub(value, lowest), span))
            }
        }
    }

    /// @notice Does what `tally` does, word by word, and skips missing words.
    function tallyOneByOne(ReportedValues reported, uint256 median, uint256 maxDistance)
        internal
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        unchecked {
            uint256 absent = reported.missing();
            for (uint256 row = 0; row < reported.count(); ++row) {
                if ((absent >> row) & 1 == 1) continue;
                uint256 value = uint256(reported.word(row));
                if (value < median) ++below;
                if (value > median) ++above;
                if ((value < median ? median - value : value - median) > maxDistance) ++outliers;
            }
        }
    }
}
