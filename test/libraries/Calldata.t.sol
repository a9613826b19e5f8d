// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Report} from "../../src/interfaces/IDataset.sol";
import {Calldata} from "../../src/libraries/Calldata.sol";

contract CalldataTest is Test {
    function testFuzz_hash_isKeccak256(bytes calldata data) public pure {
        assertEq(Calldata.hash(data), keccak256(data));
    }

    function testFuzz_hash_leavesMemoryAsItWas(bytes calldata data, bytes memory before) public pure {
        bytes32 hash = keccak256(before);
        Calldata.hash(data);
        assertEq(keccak256(before), hash);
    }

    function testFuzz_item_matchesPlainSolidity(Report[] calldata reports, uint256 index) public pure {
        vm.assume(reports.length > 0);
        index %= reports.length;
        assertEq(abi.encode(Calldata.item(reports, index)), abi.encode(reports[index]));
    }

    function testFuzz_item_matchesPlainSolidity(address[] calldata addresses, uint256 index) public pure {
        vm.assume(addresses.length > 0);
        index %= addresses.length;
        assertEq(Calldata.item(addresses, index), uint160(addresses[index]));
    }

    function testFuzz_hash_isKeccak256OfWords(bytes32[] calldata words) public pure {
        assertEq(Calldata.hash(words, 0, words.length), keccak256(abi.encodePacked(words)));
    }

    function testFuzz_hash_isKeccak256OfSomeOfTheWords(bytes32[] calldata words, uint256 from, uint256 to) public pure {
        to = bound(to, 0, words.length);
        from = bound(from, 0, to);
        bytes32[] memory some = new bytes32[](to - from);
        for (uint256 i = from; i < to; ++i) {
            some[i - from] = words[i];
        }
        assertEq(Calldata.hash(words, from, to - from), keccak256(abi.encodePacked(some)));
    }

    function testFuzz_hash_ofWordsLeavesMemoryAsItWas(bytes32[] calldata words, bytes memory before) public pure {
        bytes32 hash = keccak256(before);
        Calldata.hash(words, 0, words.length);
        assertEq(keccak256(before), hash);
    }

    function testFuzz_item_matchesPlainSolidity(bytes32[] calldata words, uint256 index) public pure {
        vm.assume(words.length > 0);
        index %= words.length;
        assertEq(Calldata.item(words, index), words[index]);
    }

    function testFuzz_item_matchesPlainSolidity(bytes calldata data, uint256 index) public pure {
        vm.assume(data.length > 0);
        index %= data.length;
        assertEq(Calldata.item(data, index), uint8(data[index]));
    }
}
