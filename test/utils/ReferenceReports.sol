// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {StdConstants} from "forge-std/StdConstants.sol";

import {Oracle} from "../../src/Oracle.sol";
import {Batch} from "./UpdateArguments.sol";

/// @notice Computes a report's digest and signer in plain Solidity: the reference for the assembly in src/.
library ReferenceReports {
    function domainSeparator(address dataset) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Dataset Oracle"),
                keccak256("1"),
                block.chainid,
                dataset
            )
        );
    }

    function digest(address dataset, bytes memory key, Oracle.QueryStatus outcome, bytes32 value, uint256 timestamp)
        internal
        view
        returns (bytes32)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)"),
                keccak256(key),
                outcome,
                value,
                timestamp
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domainSeparator(dataset), structHash));
    }

    function batchDigest(
        address dataset,
        bytes[] memory keys,
        uint256 missing,
        bytes32[] memory values,
        uint256 timestamp
    ) internal view returns (bytes32) {
        bytes32[] memory keyHashes = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            keyHashes[i] = keccak256(keys[i]);
        }
        return batchDigest(dataset, keyHashes, missing, values, timestamp);
    }

    function batchDigest(
        address dataset,
        bytes32[] memory keyHashes,
        uint256 missing,
        bytes32[] memory values,
        uint256 timestamp
    ) internal view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("BatchReport(bytes[] keys,uint256 missing,bytes32[] values,uint256 timestamp)"),
                keccak256(abi.encodePacked(keyHashes)),
                missing,
                keccak256(abi.encodePacked(values)),
                timestamp
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domainSeparator(dataset), structHash));
    }

    /// @notice Returns the digest of one row of a batch.
    function batchDigest(address dataset, Batch memory batch, uint256 row) internal view returns (bytes32) {
        uint256 missing = uint256(batch.rows[row].content);
        return batchDigest(dataset, batch.keyHashes, missing, batch.valuesOf(row), batch.timestamp);
    }

    function recover(bytes32 hash, bytes32 r, bytes32 vs) internal pure returns (address) {
        uint256 s = uint256(vs) & ~(uint256(1) << 255);
        if (s > StdConstants.SECP256K1_ORDER / 2) return address(0);
        uint8 v = uint256(vs) >> 255 == 0 ? 27 : 28;
        return ecrecover(hash, v, r, bytes32(s));
    }
}
