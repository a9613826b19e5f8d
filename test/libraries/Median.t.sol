// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Median} from "../../src/libraries/Median.sol";
import {Words, WordsLibrary} from "../../src/types/Words.sol";
import {ReferenceMedian} from "../utils/ReferenceMedian.sol";

contract MedianTest is Test {
    uint256 private constant MAX_MEDIAN = type(uint208).max;

    function testFuzz_tally_isThatOfPlainSolidity(uint256[] memory values, uint256 median, uint256 reach) public pure {
        median = bound(median, 0, MAX_MEDIAN);
        _assertTally(values, median, bound(reach, 0, median));
    }

    /// Values about every edge that the counting has: the median, its reach to both sides, zero and the largest word.
    function testFuzz_tally_isThatOfPlainSolidityAtTheEdges(uint256 median, uint256 reach, uint256 count, uint256 seed)
        public
        pure
    {
        median = bound(median, 0, MAX_MEDIAN);
        reach = bound(reach, 0, median);
        uint256[] memory values = new uint256[](count % 32);
        for (uint256 i = 0; i < values.length; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            uint256[5] memory edges = [median, median - reach, median + reach, 0, type(uint256).max];
            unchecked {
                // Less one, itself, or one more: around zero too.
                values[i] = edges[random % 5] + (random >> 8) % 3 - 1;
            }
        }
        _assertTally(values, median, reach);
    }

    /// The reach that a tolerance comes to draws the line where the rule does as it is spoken.
    function testFuzz_tally_countsOutliersAsTheRuleIsSpoken(
        uint256[8] memory values,
        uint256 median,
        uint256 toleranceBps,
        uint256 seed
    ) public pure {
        median = bound(median, 0, MAX_MEDIAN);
        toleranceBps = bound(toleranceBps, 0, 10_000);
        uint256 reach = median * toleranceBps / 10_000;
        Words words = WordsLibrary.create(8);
        uint256 expected = 0;
        for (uint256 i = 0; i < 8; ++i) {
            if ((seed >> i) & 1 == 0) values[i] = median + reach + values[i] % 3;
            else if ((seed >> (8 + i)) & 1 == 0 && reach < median) values[i] = median - reach - values[i] % 2;
            words.set(i, bytes32(values[i]));
            if (!ReferenceMedian.agrees(values[i], median, toleranceBps)) ++expected;
        }
        (,, uint256 outliers) = Median.tally(words, 8, median, reach);
        assertEq(outliers, expected);
    }

    function test_tally_countsNothingOfNothing() public pure {
        _assertTally(new uint256[](0), 5, 5);
    }

    function test_tally_readsNoMoreThanItsValues() public pure {
        Words words = WordsLibrary.create(2);
        words.set(0, bytes32(uint256(1)));
        words.set(1, bytes32(uint256(9)));
        (uint256 below, uint256 above, uint256 outliers) = Median.tally(words, 1, 5, 0);
        assertEq(below, 1);
        assertEq(above, 0);
        assertEq(outliers, 1);
    }

    function _assertTally(uint256[] memory values, uint256 median, uint256 reach) private pure {
        Words words = WordsLibrary.create(values.length);
        uint256 expected = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            words.set(i, bytes32(values[i]));
            uint256 distance = values[i] > median ? values[i] - median : median - values[i];
            if (distance > reach) ++expected;
        }
        (uint256 below, uint256 above, uint256 outliers) = Median.tally(words, values.length, median, reach);
        (uint256 below_, uint256 above_) = ReferenceMedian.counts(values, median);
        assertEq(below, below_, "below");
        assertEq(above, above_, "above");
        assertEq(outliers, expected, "outliers");
    }
}
