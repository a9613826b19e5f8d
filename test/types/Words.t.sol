// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Words, WordsLibrary} from "../../src/types/Words.sol";

contract WordsTest is Test {
    function testFuzz_get_returnsWhatWasSet(bytes32[] memory words, uint256 index, bytes32 word) public pure {
        vm.assume(words.length > 0);
        Words copy = WordsLibrary.create(words.length);
        for (uint256 i = 0; i < words.length; ++i) {
            copy.set(i, words[i]);
        }
        words[index %= words.length] = word;
        copy.set(index, word);
        for (uint256 i = 0; i < words.length; ++i) {
            assertEq(copy.get(i), words[i]);
        }
    }

    function testFuzz_create_overlapsNothing(uint8 count, bytes32 word) public pure {
        bytes memory before = abi.encode(word);
        Words words = WordsLibrary.create(count);
        Words others = WordsLibrary.create(count);
        bytes memory afterwards = abi.encode(word);
        for (uint256 i = 0; i < count; ++i) {
            words.set(i, ~word);
            others.set(i, bytes32(i));
        }
        assertEq(before, abi.encode(word));
        assertEq(afterwards, abi.encode(word));
        for (uint256 i = 0; i < count; ++i) {
            assertEq(words.get(i), ~word);
            assertEq(others.get(i), bytes32(i));
        }
    }
}
