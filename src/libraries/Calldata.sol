// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Report} from "../interfaces/IDataset.sol";
import {ReportedValues, ReportedValuesLibrary} from "../types/ReportedValues.sol";

/// @title Calldata
/// @notice Reads calldata without the copies and the repeated bounds checks of plain Solidity.
library Calldata {
    /// @notice Returns keccak256 of bytes, without allocating memory.
    function hash(bytes calldata data) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let copy := mload(0x40)
            calldatacopy(copy, data.offset, data.length)
            result := keccak256(copy, data.length)
        }
    }

    /// @notice Returns keccak256 of the `count` words that start at index `first`, without allocating memory.
    /// @dev Assumes `first` + `count` <= `words.length`; the caller has checked it.
    function hash(bytes32[] calldata words, uint256 first, uint256 count) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let copy := mload(0x40)
            let size := shl(5, count)
            calldatacopy(copy, add(words.offset, shl(5, first)), size)
            result := keccak256(copy, size)
        }
    }

    /// @dev Assumes `index` < `words.length`; the caller has checked it.
    function item(bytes32[] calldata words, uint256 index) internal pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := calldataload(add(words.offset, shl(5, index)))
        }
    }

    /// @dev Assumes `index` < `data.length`; the caller has checked it.
    function item(bytes calldata data, uint256 index) internal pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := byte(0, calldataload(add(data.offset, index)))
        }
    }

    /// @dev Assumes `index` < `reports.length`; the caller has checked it.
    function item(Report[] calldata reports, uint256 index) internal pure returns (Report calldata report) {
        assembly ("memory-safe") {
            report := add(reports.offset, mul(index, 0x60))
        }
    }

    /// @return word The address, with the upper 96 bits as they were sent.
    /// @dev Assumes `index` < `addresses.length`; the caller has checked it.
    function item(address[] calldata addresses, uint256 index) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(addresses.offset, shl(5, index)))
        }
    }

    /// @notice Returns the content of each report.
    function reportedValues(Report[] calldata reports) internal pure returns (ReportedValues) {
        uint256 offset;
        assembly ("memory-safe") {
            offset := reports.offset
        }
        return ReportedValuesLibrary.create(offset, 0x60, reports.length);
    }

    /// @notice Returns the first word of each of `count` rows of `size` words.
    /// @dev Assumes `size` * `count` == `words.length`; the caller has checked it.
    function valuesOfFirstKey(bytes32[] calldata words, uint256 size, uint256 count)
        internal
        pure
        returns (ReportedValues)
    {
        uint256 offset;
        assembly ("memory-safe") {
            offset := words.offset
        }
        return ReportedValuesLibrary.create(offset, size << 5, count);
    }
}
