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

    function testFuzz_item_isThatOfPlainSolidity(Report[] calldata reports, uint256 index) public pure {
        vm.assume(reports.length > 0);
        index %= reports.length;
        assertEq(abi.encode(Calldata.item(reports, index)), abi.encode(reports[index]));
    }

    function testFuzz_item_isThatOfPlainSolidity(address[] calldata addresses, uint256 index) public pure {
        vm.assume(addresses.length > 0);
        index %= addresses.length;
        assertEq(Calldata.item(addresses, index), uint160(addresses[index]));
    }
}
