// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {ReportedValues} from "../../src/types/ReportedValues.sol";
import {ReferenceMedian} from "../utils/ReferenceMedian.sol";

/// @notice Counts what it is given. Each call begins with fresh memory, as an update does.
contract ReportedValuesUser {
    /// @param missing A bitmap of the words that are missing, lowest bit first.
    function tally(uint256[] calldata values, uint256 missing, uint256 median, uint256 maxDistance)
        external
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        _write(values, 1, missing);
        if (missing != 0) ReportedValues.setMissing(0);
        unchecked {
            return ReportedValues.tally(median, median - maxDistance, 2 * maxDistance);
        }
    }

    /// @notice Counts values that are no rows of a batch.
    function tallyReports(uint256[] calldata values, uint256 count, uint256 median)
        external
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        ReportedValues.create(count);
        uint256 place = ReportedValues.place();
        assembly ("memory-safe") {
            calldatacopy(place, values.offset, shl(5, count))
            // What lies behind the values does not count.
            calldatacopy(mload(0x40), add(values.offset, shl(5, count)), shl(5, sub(values.length, count)))
        }
        return ReportedValues.tally(median, median, 0);
    }

    /// @return seen Key by key, the word of each row.
    function walk(uint256[] calldata values, uint256 keys) external pure returns (uint256[] memory seen) {
        uint256 rows = _write(values, keys, 0);
        seen = new uint256[](rows * keys);
        for (uint256 key = 0; key < keys; ++key) {
            for (uint256 row = 0; row < rows; ++row) {
                seen[key * rows + row] = uint256(ReportedValues.word(row));
            }
            ReportedValues.advance();
        }
    }

    function countMissing(uint256[] calldata values, uint256 missing)
        external
        pure
        returns (uint256 count, uint256 present, uint256 missing_, uint256 keys)
    {
        _write(values, 1, missing);
        ReportedValues.setMissing(0);
        return
            (
                ReportedValues.count(),
                ReportedValues.present(),
                ReportedValues.missing(),
                ReportedValues.keysWithMissing()
            );
    }

    /// @return before What was allocated before and must still be there.
    /// @return fresh What is allocated afterwards.
    function allocateAround(uint256[] calldata values) external pure returns (uint256 before, uint256 fresh) {
        uint256[] memory word = new uint256[](1);
        word[0] = 42;
        _write(values, 1, 0);
        uint256[] memory other = new uint256[](1);
        ReportedValues.setMissing(0);
        ReportedValues.advance();
        return (word[0], other[0]);
    }

    function createTooLate() external pure {
        bytes memory word = new bytes(0x200);
        word[0] = 0x01;
        ReportedValues.create(1);
    }

    /// @dev Writes rows of `keys` values each.
    function _write(uint256[] calldata values, uint256 keys, uint256 missing) private pure returns (uint256 rows) {
        rows = values.length / keys;
        ReportedValues.createRows(rows, keys);
        uint256 place = ReportedValues.place();
        for (uint256 row = 0; row < rows; ++row) {
            uint256 bits = (missing >> row) & 1;
            assembly ("memory-safe") {
                mstore(place, bits)
                place := add(place, 0x20)
                calldatacopy(place, add(values.offset, shl(5, mul(row, keys))), shl(5, keys))
                place := add(place, shl(5, keys))
            }
        }
    }
}

contract ReportedValuesTest is Test {
    uint256 private constant MAX_MEDIAN = type(uint208).max;

    ReportedValuesUser private user = new ReportedValuesUser();

    /// Walks key by key through rows of any size.
    function testFuzz_advance_visitsEveryKey(uint256[] memory values, uint256 keys) public view {
        keys = bound(keys, 1, 10);
        uint256 rows = values.length / keys;
        uint256[] memory seen = user.walk(values, keys);
        assertEq(seen.length, rows * keys);
        for (uint256 i = 0; i < seen.length; ++i) {
            assertEq(seen[i], values[i % rows * keys + i / rows]);
        }
    }

    function testFuzz_setMissing_countsWhatIsPresent(uint256[] memory values, uint256 missing) public view {
        vm.assume(values.length < 256);
        missing &= 2 ** values.length - 1;
        uint256 expected = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            if ((missing >> i) & 1 == 0) ++expected;
        }
        (uint256 count, uint256 present, uint256 missing_, uint256 keys) = user.countMissing(values, missing);
        assertEq(count, values.length, "count");
        assertEq(present, expected, "present");
        assertEq(missing_, missing, "missing");
        assertEq(keys, missing == 0 ? 0 : 1, "keys");
    }

    function testFuzz_create_overlapsNothing(uint256[] memory values) public view {
        (uint256 before, uint256 fresh) = user.allocateAround(values);
        assertEq(before, 42);
        assertEq(fresh, 0);
    }

    /// Nothing may be allocated where the values lie.
    function test_create_RevertWhen_memoryIsUsed() public {
        vm.expectRevert(bytes(""));
        user.createTooLate();
    }

    function testFuzz_tally_matchesPlainSolidity(
        uint256[] memory values,
        uint256 missing,
        uint256 median,
        uint256 maxDistance
    ) public view {
        vm.assume(values.length < 256);
        median = bound(median, 0, MAX_MEDIAN);
        _assertTally(values, missing, median, bound(maxDistance, 0, median));
    }

    /// Uses values around every edge of the counting: the median, its maximum distance on both sides, zero and the
    /// largest word.
    function testFuzz_tally_matchesPlainSolidityAtTheEdges(
        uint256 median,
        uint256 maxDistance,
        uint256 count,
        uint256 missing,
        uint256 seed
    ) public view {
        median = bound(median, 0, MAX_MEDIAN);
        maxDistance = bound(maxDistance, 0, median);
        uint256[] memory values = new uint256[](count % 32);
        for (uint256 i = 0; i < values.length; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            uint256[5] memory edges = [median, median - maxDistance, median + maxDistance, 0, type(uint256).max];
            unchecked {
                // The edge itself or a neighbour, wrapping around zero.
                values[i] = edges[random % 5] + (random >> 8) % 3 - 1;
            }
        }
        _assertTally(values, missing, median, maxDistance);
    }

    function test_tally_readsNoMoreThanItsWords() public view {
        uint256[] memory values = new uint256[](2);
        (values[0], values[1]) = (1, 9);
        (uint256 below, uint256 above, uint256 outliers) = user.tallyReports(values, 1, 5);
        assertEq(below, 1);
        assertEq(above, 0);
        assertEq(outliers, 1);
    }

    function _assertTally(uint256[] memory values, uint256 missing, uint256 median, uint256 maxDistance) private view {
        missing &= 2 ** values.length - 1;
        uint256[] memory present = new uint256[](values.length);
        uint256 count = 0;
        uint256 expected = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            if ((missing >> i) & 1 == 1) continue;
            present[count++] = values[i];
            uint256 distance = values[i] > median ? values[i] - median : median - values[i];
            if (distance > maxDistance) ++expected;
        }
        assembly ("memory-safe") {
            mstore(present, count)
        }
        (uint256 below, uint256 above, uint256 outliers) = user.tally(values, missing, median, maxDistance);
        (uint256 below_, uint256 above_) = ReferenceMedian.counts(present, median);
        assertEq(below, below_, "below");
        assertEq(above, above_, "above");
        assertEq(outliers, expected, "outliers");
    }
}
