// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Calldata} from "../../src/libraries/Calldata.sol";

contract CalldataTest is Test {
    /// Memory stays as it was.
    function testFuzz_hash_isKeccak256(bytes calldata data, bytes memory before) public pure {
        bytes32 hash = keccak256(before);
        assertEq(Calldata.hash(data), keccak256(data));
        assertEq(keccak256(before), hash);
    }
}
