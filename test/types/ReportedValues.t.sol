// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Report} from "../../src/interfaces/IDataset.sol";
import {Calldata} from "../../src/libraries/Calldata.sol";
import {ReportedValues} from "../../src/types/ReportedValues.sol";
import {ReferenceMedian} from "../utils/ReferenceMedian.sol";

contract ReportedValuesTest is Test {
    uint256 private constant MAX_MEDIAN = type(uint208).max;

    function testFuzz_word_matchesPlainSolidity(Report[] calldata reports) public pure {
        ReportedValues reported = Calldata.reportedValues(reports);
        assertEq(reported.count(), reports.length);
        assertEq(reported.present(), reports.length);
        for (uint256 i = 0; i < reports.length; ++i) {
            assertEq(reported.word(i), reports[i].content);
        }
    }

    /// Walks key by key through rows of any size.
    function testFuzz_advance_visitsEveryKey(bytes32[] calldata words, uint256 size) public pure {
        size = bound(size, 1, 10);
        uint256 rows = words.length / size;
        ReportedValues reported = Calldata.valuesOfFirstKey(words, size, rows);
        for (uint256 key = 0; key < size; ++key) {
            for (uint256 row = 0; row < rows; ++row) {
                assertEq(reported.word(row), words[row * size + key]);
            }
            reported.advance();
        }
    }

    function testFuzz_setMissing_countsWhatIsPresent(bytes32[] calldata words, uint256 missing) public pure {
        vm.assume(words.length < 256);
        missing &= 2 ** words.length - 1;
        ReportedValues reported = Calldata.valuesOfFirstKey(words, 1, words.length);
        reported.setMissing(missing);
        uint256 present = 0;
        for (uint256 i = 0; i < words.length; ++i) {
            if ((missing >> i) & 1 == 0) ++present;
        }
        assertEq(reported.present(), present);
        assertEq(reported.missing(), missing);
        assertEq(reported.count(), words.length);
    }

    function testFuzz_create_overlapsNothing(bytes32[] calldata words) public pure {
        bytes memory before = abi.encode(type(uint256).max);
        ReportedValues reported = Calldata.valuesOfFirstKey(words, 1, words.length);
        bytes memory afterwards = new bytes(32);
        reported.setMissing(0);
        reported.advance();
        assertEq(before, abi.encode(type(uint256).max));
        assertEq(afterwards, new bytes(32));
    }

    function testFuzz_tally_matchesPlainSolidity(
        uint256[] calldata values,
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
        (uint256 below, uint256 above, uint256 outliers) = this.tallyFirst(values, 5, 0);
        assertEq(below, 1);
        assertEq(above, 0);
        assertEq(outliers, 1);
    }

    function tally(uint256[] calldata values, uint256 missing, uint256 median, uint256 maxDistance)
        external
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        ReportedValues reported = _reportedValues(values, values.length);
        reported.setMissing(missing);
        return reported.tally(median, maxDistance);
    }

    function tallyFirst(uint256[] calldata values, uint256 median, uint256 maxDistance)
        external
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        return _reportedValues(values, 1).tally(median, maxDistance);
    }

    function _reportedValues(uint256[] calldata values, uint256 count) private pure returns (ReportedValues) {
        bytes32[] calldata words;
        assembly ("memory-safe") {
            words.offset := values.offset
            words.length := values.length
        }
        return Calldata.valuesOfFirstKey(words, 1, count);
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
        (uint256 below, uint256 above, uint256 outliers) = this.tally(values, missing, median, maxDistance);
        (uint256 below_, uint256 above_) = ReferenceMedian.counts(present, median);
        assertEq(below, below_, "below");
        assertEq(above, above_, "above");
        assertEq(outliers, expected, "outliers");
    }
}
