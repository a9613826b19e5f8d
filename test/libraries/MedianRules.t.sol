// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {MedianRules} from "../../src/libraries/MedianRules.sol";

contract MedianRulesTest is Test {
    /// Of distinct values, the lower middle is accepted and no other.
    function testFuzz_isTooHighOrLow_acceptsOneIndex(uint8 count, uint8 index) public pure {
        count = uint8(bound(count, 1, 255));
        index %= count;
        uint256 middle = (uint256(count) - 1) / 2;
        assertEq(MedianRules.isTooHigh(index, count), index > middle);
        assertEq(MedianRules.isTooLow(count - 1 - index, count), index < middle);
    }

    function testFuzz_toleranceDistance_isTheTolerance(uint208 median, uint256 toleranceBps) public pure {
        toleranceBps = bound(toleranceBps, 0, 10_000);
        assertEq(MedianRules.toleranceDistance(median, toleranceBps), uint256(median) * toleranceBps / 10_000);
    }
}
