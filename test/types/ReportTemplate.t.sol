// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle} from "../../src/Oracle.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";
import {ReportTemplateUser} from "../utils/ReportTemplateUser.sol";

contract ReportTemplateTest is Test {
    ReportTemplateUser private user = new ReportTemplateUser();

    /// One template serves for many values, in any order.
    function testFuzz_digest_matchesPlainSolidity(
        address dataset,
        bytes memory key,
        uint8 outcome,
        uint256 timestamp,
        bytes32[] memory values,
        uint64 chainId
    ) public {
        vm.chainId(bound(chainId, 1, type(uint64).max));
        Oracle.QueryStatus outcome_ = Oracle.QueryStatus(outcome % 4);
        bytes32[] memory digests = user.digests(
            ReferenceReports.domainSeparator(dataset), keccak256(key), uint256(outcome_), timestamp, values
        );
        for (uint256 i = 0; i < values.length; ++i) {
            assertEq(digests[i], ReferenceReports.digest(dataset, key, outcome_, values[i], timestamp));
        }
    }

    /// One template serves for many rows.
    function testFuzz_digest_ofARowMatchesPlainSolidity(
        address dataset,
        bytes[] memory keys,
        uint256 timestamp,
        uint256 seed,
        uint64 chainId
    ) public {
        vm.chainId(bound(chainId, 1, type(uint64).max));
        bytes32[] memory hashes = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            hashes[i] = keccak256(keys[i]);
        }
        bytes32[][] memory rows = new bytes32[][](3);
        bytes32[3] memory expected;
        for (uint256 i = 0; i < rows.length; ++i) {
            rows[i] = new bytes32[](1 + keys.length);
            bytes32[] memory values = new bytes32[](keys.length);
            rows[i][0] = keccak256(abi.encode(seed, i));
            for (uint256 j = 0; j < keys.length; ++j) {
                values[j] = keccak256(abi.encode(seed, i, j));
                rows[i][1 + j] = values[j];
            }
            expected[i] = ReferenceReports.batchDigest(dataset, keys, uint256(rows[i][0]), values, timestamp);
        }
        bytes32[] memory digests = user.rowDigests(
            ReferenceReports.domainSeparator(dataset), keccak256(abi.encodePacked(hashes)), timestamp, rows
        );
        for (uint256 i = 0; i < rows.length; ++i) {
            assertEq(digests[i], expected[i]);
        }
    }

    function test_create_overlapsNothing() public view {
        (uint256 before, uint256 fresh) = user.allocateAround();
        assertEq(before, 42);
        assertEq(fresh, 0);
    }

    /// Nothing may be allocated where the template lies.
    function test_create_RevertWhen_memoryIsUsed() public {
        vm.expectRevert(bytes(""));
        user.createTooLate();
    }
}
