// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle} from "../../src/Oracle.sol";
import {
    BATCH_TYPEHASH,
    REPORT_TYPEHASH,
    ReportTemplate,
    ReportTemplateLibrary
} from "../../src/types/ReportTemplate.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";

/// @notice Computes digests. Each call begins with fresh memory, as an update does.
contract ReportTemplateUser {
    function digests(
        bytes32 domainSeparator,
        bytes32 keyHash,
        uint256 outcome,
        uint256 timestamp,
        bytes32[4] calldata values
    ) external pure returns (bytes32[4] memory results) {
        ReportTemplate template = ReportTemplateLibrary.create(
            REPORT_TYPEHASH, domainSeparator, keyHash, outcome, timestamp
        );
        for (uint256 i = 0; i < values.length; ++i) {
            results[i] = template.digest(values[i]);
        }
    }

    /// @param rows For each row, a bitmap of the keys without data and then the values.
    function rowDigests(bytes32 domainSeparator, bytes32 keyHash, uint256 timestamp, bytes32[][3] calldata rows)
        external
        pure
        returns (bytes32[3] memory results)
    {
        ReportTemplate template = ReportTemplateLibrary.create(BATCH_TYPEHASH, domainSeparator, keyHash, 0, timestamp);
        for (uint256 i = 0; i < rows.length; ++i) {
            bytes32[] memory row = rows[i];
            uint256 place;
            assembly ("memory-safe") {
                place := add(row, 0x20)
            }
            results[i] = template.digest(template.setRow(place, 32 * (row.length - 1)));
        }
    }

    /// @return before What was allocated before and must still be there.
    /// @return fresh What is allocated afterwards.
    function allocateAround() external pure returns (uint256 before, uint256 fresh) {
        uint256[] memory word = new uint256[](1);
        word[0] = 42;
        ReportTemplate template = ReportTemplateLibrary.create(REPORT_TYPEHASH, 0, 0, 0, 0);
        uint256[] memory other = new uint256[](1);
        template.digest(bytes32(type(uint256).max));
        return (word[0], other[0]);
    }

    function createTooLate() external pure {
        bytes memory word = new bytes(0x200);
        word[0] = 0x01;
        ReportTemplateLibrary.create(REPORT_TYPEHASH, 0, 0, 0, 0);
    }
}

contract ReportTemplateTest is Test {
    ReportTemplateUser private user = new ReportTemplateUser();

    /// One template serves for many values, in any order.
    function testFuzz_digest_matchesPlainSolidity(
        address dataset,
        bytes memory key,
        uint8 outcome,
        uint256 timestamp,
        bytes32[4] memory values,
        uint64 chainId
    ) public {
        vm.chainId(bound(chainId, 1, type(uint64).max));
        Oracle.QueryStatus outcome_ = Oracle.QueryStatus(outcome % 4);
        bytes32[4] memory digests = user.digests(
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
        bytes32[][3] memory rows;
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
        bytes32[3] memory digests = user.rowDigests(
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
