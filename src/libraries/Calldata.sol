// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

/// @title Calldata
/// @notice Hashes calldata without the copies of plain Solidity.
library Calldata {
    /// @notice Returns keccak256 of bytes, without allocating memory.
    function hash(bytes calldata data) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let copy := mload(0x40)
            calldatacopy(copy, data.offset, data.length)
            result := keccak256(copy, data.length)
        }
    }
}
