// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {BitCount} from "../../src/libraries/BitCount.sol";

contract BitCountTest is Test {
    function testFuzz_count_matchesPlainSolidity(uint256 bitmap, uint256 mask) public pure {
        _assertCount(bitmap);
        _assertCount(bitmap & mask);
        _assertCount(bitmap >> (mask % 256));
    }

    function test_count_matchesPlainSolidityAtTheEdges() public pure {
        assertEq(BitCount.count(0), 0);
        assertEq(BitCount.count(type(uint256).max), 0);
        for (uint256 bit = 0; bit < 256; ++bit) {
            assertEq(BitCount.count(2 ** bit), 1);
            assertEq(BitCount.count(type(uint256).max >> bit), (256 - bit) % 256);
            assertEq(BitCount.count(~(2 ** bit)), 255);
        }
    }

    function _assertCount(uint256 bitmap) private pure {
        uint256 count = 0;
        for (uint256 bit = 0; bit < 256; ++bit) {
            count += (bitmap >> bit) & 1;
        }
        assertEq(BitCount.count(bitmap), count % 256);
    }
}
