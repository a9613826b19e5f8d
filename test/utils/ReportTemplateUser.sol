// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {BATCH_TYPEHASH, REPORT_TYPEHASH, ReportTemplate} from "../../src/types/ReportTemplate.sol";

/// @notice Computes digests. Each call begins with fresh memory, as an update does.
contract ReportTemplateUser {
    function digests(
        bytes32 domainSeparator,
        bytes32 keyHash,
        uint256 outcome,
        uint256 timestamp,
        bytes32[] calldata values
    ) external pure returns (bytes32[] memory results) {
        ReportTemplate.allocate();
        results = new bytes32[](values.length);
        ReportTemplate.fill(REPORT_TYPEHASH, domainSeparator, keyHash, outcome, timestamp);
        for (uint256 i = 0; i < values.length; ++i) {
            results[i] = ReportTemplate.digest(values[i]);
        }
    }

    /// @param rows For each row, a bitmap of the keys without data and then the values.
    function rowDigests(bytes32 domainSeparator, bytes32 keyHash, uint256 timestamp, bytes32[][] calldata rows)
        external
        pure
        returns (bytes32[] memory results)
    {
        ReportTemplate.allocate();
        results = new bytes32[](rows.length);
        ReportTemplate.fill(BATCH_TYPEHASH, domainSeparator, keyHash, 0, timestamp);
        for (uint256 i = 0; i < rows.length; ++i) {
            bytes32[] memory row = rows[i];
            uint256 place;
            assembly ("memory-safe") {
                place := add(row, 0x20)
            }
            results[i] = ReportTemplate.digest(ReportTemplate.setRow(place, 32 * (row.length - 1)));
        }
    }

    /// @return before What was allocated before and must still be there.
    /// @return fresh What is allocated afterwards.
    function allocateAround() external pure returns (uint256 before, uint256 fresh) {
        uint256[] memory word = new uint256[](1);
        word[0] = 42;
        ReportTemplate.allocate();
        ReportTemplate.fill(REPORT_TYPEHASH, 0, 0, 0, 0);
        uint256[] memory other = new uint256[](1);
        ReportTemplate.digest(bytes32(type(uint256).max));
        return (word[0], other[0]);
    }

    function createTooLate() external pure {
        bytes memory word = new bytes(0x200);
        word[0] = 0x01;
        ReportTemplate.allocate();
    }
}
