// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Report} from "../../src/interfaces/IDataset.sol";
import {Calldata} from "../../src/libraries/Calldata.sol";

contract CalldataTest is Test {
    /// Memory stays as it was.
    function testFuzz_hash_isKeccak256(bytes calldata data, bytes memory before) public pure {
        bytes32 hash = keccak256(before);
        assertEq(Calldata.hash(data), keccak256(data));
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

    function testFuzz_hash_isKeccak256OfSomeOfTheWords(bytes32[] calldata words, uint256 from, uint256 to) public pure {
        to = bound(to, 0, words.length);
        from = bound(from, 0, to);
        bytes32[] memory some = new bytes32[](to - from);
        for (uint256 i = from; i < to; ++i) {
            some[i - from] = words[i];
        }
        bytes memory before = abi.encodePacked(some);
        assertEq(Calldata.hash(words, from, to - from), keccak256(before));
        assertEq(before, abi.encodePacked(some));
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
