// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

bytes32 constant REPORT_TYPEHASH = keccak256("Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)");
bytes32 constant BATCH_TYPEHASH =
    keccak256("BatchReport(bytes[] keys,uint256 missing,bytes32[] values,uint256 timestamp)");

/// @dev Where the `ReportTemplate` lies in memory. The compiler would otherwise add each of its offsets to an address on
/// the stack, for every report.
uint256 constant TEMPLATE = 0x200;

/// @title ReportTemplate
/// @notice The EIP-712 preimage of the reports of one round. It is built in memory only once, because little of it
/// differs between reports. There is one at a time. At its address lie
///     0x00 the five words of the struct: typehash, hash of the key, outcome, value, timestamp;
///          in a batch: typehash, hash of the keys, missing, hash of the values, timestamp
///     0xa0 the 66 bytes of the digest's preimage: 0x1901, domain separator, struct hash
///     0x100 the four words with which a signer is recovered: digest, v, r, s
/// @dev `ReferenceReports` in test/utils is the same in plain Solidity.
library ReportTemplate {
    uint256 private constant SIZE = 0x180;

    /// @notice Allocates the template. Its content is undefined until it is filled.
    /// @dev Before this nothing else may be allocated there.
    function allocate() internal pure {
        assembly ("memory-safe") {
            if gt(mload(0x40), TEMPLATE) { invalid() }
            mstore(0x40, add(TEMPLATE, SIZE))
        }
    }

    /// @notice Writes the fields that the reports of one round have in common.
    /// @param keyHash keccak256 of the key; in a batch, of the concatenated hashes of all keys.
    /// @param outcome A `QueryStatus`; ignored in a batch.
    /// @param round The timestamp. It cannot be called that, because `timestamp` is reserved in assembly.
    function fill(bytes32 typehash, bytes32 domainSeparator, bytes32 keyHash, uint256 outcome, uint256 round)
        internal
        pure
    {
        assembly ("memory-safe") {
            mstore(TEMPLATE, typehash)
            mstore(add(TEMPLATE, 0x20), keyHash)
            mstore(add(TEMPLATE, 0x40), outcome)
            mstore(add(TEMPLATE, 0x80), round)
            mstore(add(TEMPLATE, 0xa0), shl(240, 0x1901))
            mstore(add(TEMPLATE, 0xa2), domainSeparator)
        }
    }

    /// @notice In a batch, sets the keys for which a row has no data.
    /// @param row The address in memory of the row: a bitmap of these keys, then one value for each key.
    /// @param size The size of the values, in bytes.
    /// @return content The hash of the row's values, of which `digest` makes the digest.
    function setRow(uint256 row, uint256 size) internal pure returns (bytes32 content) {
        assembly ("memory-safe") {
            mstore(add(TEMPLATE, 0x40), mload(row))
            content := keccak256(add(row, 0x20), size)
        }
    }

    /// @notice Returns the digest that a provider signs to report `value`; in a batch, `value` is the hash of a row's
    /// values.
    function digest(bytes32 value) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            mstore(add(TEMPLATE, 0x60), value)
            mstore(add(TEMPLATE, 0xc2), keccak256(TEMPLATE, 0xa0))
            result := keccak256(add(TEMPLATE, 0xa0), 0x42)
        }
    }
}
