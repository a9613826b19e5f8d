// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {TEMPLATE} from "./ReportTemplate.sol";

/// @title ReportedValues
/// @notice Holds the values that the reports of one round have for one key, and counts them: equidistant words in
/// memory. Words of reports without data for the key are missing. There is one such list at a time, and always at the
/// same address, behind the `ReportTemplate`: the compiler would otherwise add each offset to an address on the stack.
/// At the address lie
///     0x00 the address of the first word
///     0x20 the distance from one word to the next, in bytes
///     0x40 the number of words, at most 255
///     0x60 a bitmap of the missing words, lowest bit first
///     0x80 the number of words that are present
///     0xa0 what was reported, report by report: a value or, in a batch, a row, which is a bitmap of the keys without
///          data and then one value for each key
library ReportedValues {
    uint256 private constant ADDRESS = 0x380;

    /// @notice Allocates the template, and the values of reports on one key, of which none is missing. They are undefined
    /// until they are written to their `place`.
    function create(uint256 reports) internal pure {
        _allocate(reports, 0x20, 0xa0);
    }

    /// @notice Allocates the template and the rows of a batch, and points to the values of the first key, of which none is
    /// missing. They are undefined until they are written to their `place`.
    function createRows(uint256 rows, uint256 keys) internal pure {
        unchecked {
            _allocate(rows, 0x20 + (keys << 5), 0xc0);
        }
    }

    /// @param first The distance of the first word from the address.
    function _allocate(uint256 words, uint256 stride, uint256 first) private pure {
        assembly ("memory-safe") {
            // Something else was allocated there.
            if gt(mload(0x40), TEMPLATE) { invalid() }
            mstore(0x40, add(add(ADDRESS, 0xa0), mul(words, stride)))
            mstore(ADDRESS, add(ADDRESS, first))
            mstore(add(ADDRESS, 0x20), stride)
            mstore(add(ADDRESS, 0x40), words)
            mstore(add(ADDRESS, 0x60), 0)
            mstore(add(ADDRESS, 0x80), words)
        }
    }

    /// @notice Returns the address in memory of the first report.
    function place() internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := add(ADDRESS, 0xa0)
        }
    }

    /// @notice Returns the size of the values of a row of a batch in memory, in bytes.
    function rowSize() internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := sub(mload(add(ADDRESS, 0x20)), 0x20)
        }
    }

    /// @notice Moves to the values of the next key.
    function advance() internal pure {
        assembly ("memory-safe") {
            mstore(ADDRESS, add(mload(ADDRESS), 0x20))
        }
    }

    /// @notice Returns a bitmap of the keys of a batch for which at least one row has no data.
    function keysWithMissing() internal pure returns (uint256 keys) {
        assembly ("memory-safe") {
            let stride := mload(add(ADDRESS, 0x20))
            let row := add(ADDRESS, 0xa0)
            for { let end := add(row, mul(mload(add(ADDRESS, 0x40)), stride)) } lt(row, end) { row := add(row, stride) }
            {
                keys := or(keys, mload(row))
            }
        }
    }

    /// @notice Sets which words are missing, from the rows' bitmaps.
    /// @param key The index of the key to whose values this points.
    function setMissing(uint256 key) internal pure {
        assembly ("memory-safe") {
            let words := mload(add(ADDRESS, 0x40))
            let stride := mload(add(ADDRESS, 0x20))
            let row := add(ADDRESS, 0xa0)
            let bits := 0
            let left := words
            for { let i := 0 } lt(i, words) { i := add(i, 1) } {
                let bit := and(shr(key, mload(row)), 1)
                bits := or(bits, shl(i, bit))
                left := sub(left, bit)
                row := add(row, stride)
            }
            mstore(add(ADDRESS, 0x60), bits)
            mstore(add(ADDRESS, 0x80), left)
        }
    }

    /// @notice Returns the number of words, including the missing ones.
    function count() internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(ADDRESS, 0x40))
        }
    }

    /// @notice Returns the number of words that are present.
    function present() internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(ADDRESS, 0x80))
        }
    }

    /// @notice Returns a bitmap of the missing words.
    function missing() internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(ADDRESS, 0x60))
        }
    }

    /// @notice Returns the word at an index, missing or not.
    /// @dev Assumes `index` < `count`; the caller has checked it.
    function word(uint256 index) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := mload(add(mload(ADDRESS), mul(index, mload(add(ADDRESS, 0x20)))))
        }
    }

    /// @notice Counts the present words below a median, above it, and (in `outliers`) outside of a range.
    /// @param lowest The lower end of the range.
    /// @param span The distance from there to its upper end.
    function tally(uint256 median, uint256 lowest, uint256 span)
        internal
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        if (missing() != 0) return tallyOneByOne(median, lowest, span);
        assembly ("memory-safe") {
            let next := mload(ADDRESS)
            let stride := mload(add(ADDRESS, 0x20))
            let words := mload(add(ADDRESS, 0x40))
            let end := add(next, mul(stride, words))
            // The three counts, in 16 bits each: as many variables would not fit on the stack.
            let counts := 0
            // Two words at a time, after the first one if their number is odd: the loop itself costs as much as a word.
            if and(words, 1) {
                let value := mload(next)
                // Below `lowest` the difference wraps around and exceeds any span.
                let isOutlier := gt(sub(value, lowest), span)
                counts := or(lt(value, median), or(shl(16, gt(value, median)), shl(32, isOutlier)))
                next := add(next, stride)
            }
            for {} lt(next, end) { next := add(next, stride) } {
                let value := mload(next)
                let isOutlier := gt(sub(value, lowest), span)
                counts := add(counts, or(lt(value, median), or(shl(16, gt(value, median)), shl(32, isOutlier))))
                next := add(next, stride)
                value := mload(next)
                isOutlier := gt(sub(value, lowest), span)
                counts := add(counts, or(lt(value, median), or(shl(16, gt(value, median)), shl(32, isOutlier))))
            }
            below := and(counts, 0xffff)
            above := and(shr(16, counts), 0xffff)
            outliers := shr(32, counts)
        }
    }

    /// @notice Does what `tally` does, word by word, and skips missing words.
    function tallyOneByOne(uint256 median, uint256 lowest, uint256 span)
        internal
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        unchecked {
            uint256 absent = missing();
            for (uint256 row = 0; row < count(); ++row) {
                if ((absent >> row) & 1 == 1) continue;
                uint256 value = uint256(word(row));
                if (value < median) ++below;
                if (value > median) ++above;
                if (value < lowest || value - lowest > span) ++outliers;
            }
        }
    }
}
