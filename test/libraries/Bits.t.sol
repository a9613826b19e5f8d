// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Bits} from "../../src/libraries/Bits.sol";

contract BitsTest is Test {
    function testFuzz_count_matchesPlainSolidity(uint256 bitmap, uint256 mask) public pure {
        _assertCount(bitmap);
        _assertCount(bitmap & mask);
        _assertCount(bitmap >> (mask % 256));
    }

    function test_count_matchesPlainSolidityAtTheEdges() public pure {
        assertEq(Bits.count(0), 0);
        assertEq(Bits.count(type(uint256).max), 0);
        for (uint256 bit = 0; bit < 256; ++bit) {
            assertEq(Bits.count(2 ** bit), 1);
            assertEq(Bits.count(type(uint256).max >> bit), (256 - bit) % 256);
            assertEq(Bits.count(~(2 ** bit)), 255);
        }
    }

    function _assertCount(uint256 bitmap) private pure {
        uint256 count = 0;
        for (uint256 bit = 0; bit < 256; ++bit) {
            count += (bitmap >> bit) & 1;
        }
        assertEq(Bits.count(bitmap), count % 256);
    }
}
