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

contract ReportTemplateTest is Test {
    /// One template serves for many values, in any order, even if other code allocates memory in between.
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
        ReportTemplate template = ReportTemplateLibrary.create(
            REPORT_TYPEHASH, ReferenceReports.domainSeparator(dataset), keccak256(key), uint256(outcome_), timestamp
        );
        for (uint256 i = 0; i < values.length; ++i) {
            bytes32 expected = ReferenceReports.digest(dataset, key, outcome_, values[i], timestamp);
            assertEq(template.digest(values[i]), expected);
        }
    }

    /// One template serves for many rows.
    function testFuzz_digest_ofARowMatchesPlainSolidity(
        address dataset,
        bytes[] memory keys,
        uint256 timestamp,
        bytes32[8][3] memory rows,
        uint256 seed,
        uint64 chainId
    ) public {
        vm.chainId(bound(chainId, 1, type(uint64).max));
        bytes32[] memory hashes = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            hashes[i] = keccak256(keys[i]);
        }
        ReportTemplate template = ReportTemplateLibrary.create(
            BATCH_TYPEHASH,
            ReferenceReports.domainSeparator(dataset),
            keccak256(abi.encodePacked(hashes)),
            seed,
            timestamp
        );
        for (uint256 i = 0; i < rows.length; ++i) {
            uint256 missing = uint256(keccak256(abi.encode(seed, i)));
            bytes32[] memory row = _head(rows[i], keys.length);
            bytes32 expected = ReferenceReports.batchDigest(dataset, keys, missing, row, timestamp);
            template.setMissing(bytes32(missing));
            assertEq(template.digest(keccak256(abi.encodePacked(row))), expected);
        }
    }

    function test_create_overlapsNothing() public pure {
        bytes memory before = abi.encode(type(uint256).max);
        ReportTemplate template = ReportTemplateLibrary.create(REPORT_TYPEHASH, 0, 0, 0, 0);
        bytes memory afterwards = new bytes(32);
        template.digest(bytes32(type(uint256).max));
        assertEq(before, abi.encode(type(uint256).max));
        assertEq(afterwards, new bytes(32));
    }

    /// @dev Returns as many of the words as there are keys, at most all of them.
    function _head(bytes32[8] memory words, uint256 count) private pure returns (bytes32[] memory head) {
        head = new bytes32[](count < 8 ? count : 8);
        for (uint256 i = 0; i < head.length; ++i) {
            head[i] = words[i];
        }
    }
}
