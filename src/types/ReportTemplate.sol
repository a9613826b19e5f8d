// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

bytes32 constant REPORT_TYPEHASH = keccak256("Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)");
bytes32 constant BATCH_TYPEHASH =
    keccak256("BatchReport(bytes[] keys,uint256 missing,bytes32[] values,uint256 timestamp)");

/// @notice The EIP-712 preimage of the reports of one round. It is built in memory only once, because little of it
/// differs between reports. It always lies at the same address, so that there is one at a time: the compiler would
/// otherwise add each of its offsets to an address on the stack, for every report. Points to
///     0x00 the five words of the struct: typehash, hash of the key, outcome, value, timestamp;
///          in a batch: typehash, hash of the keys, missing, hash of the values, timestamp
///     0xa0 the 66 bytes of the digest's preimage: 0x1901, domain separator, struct hash
///     0x100 the four words with which a signer is recovered: digest, v, r, s
type ReportTemplate is uint256;

using ReportTemplateLibrary for ReportTemplate global;

/// @title ReportTemplateLibrary
/// @dev `ReferenceReports` in test/utils is the same in plain Solidity.
library ReportTemplateLibrary {
    uint256 private constant ADDRESS = 0x200;
    uint256 private constant SIZE = 0x180;

    /// @notice Allocates the template. Its content is undefined until it is filled.
    /// @dev Before this nothing else may be allocated there.
    function allocate() internal pure returns (ReportTemplate template) {
        template = ReportTemplate.wrap(ADDRESS);
        assembly ("memory-safe") {
            if gt(mload(0x40), ADDRESS) { invalid() }
            mstore(0x40, add(ADDRESS, SIZE))
        }
    }

    /// @notice Writes the fields that the reports of one round have in common.
    /// @param keyHash keccak256 of the key; in a batch, of the concatenated hashes of all keys.
    /// @param outcome A `QueryStatus`; ignored in a batch.
    /// @param round The timestamp. It cannot be called that, because `timestamp` is reserved in assembly.
    function fill(
        ReportTemplate template,
        bytes32 typehash,
        bytes32 domainSeparator,
        bytes32 keyHash,
        uint256 outcome,
        uint256 round
    ) internal pure {
        assembly ("memory-safe") {
            mstore(template, typehash)
            mstore(add(template, 0x20), keyHash)
            mstore(add(template, 0x40), outcome)
            mstore(add(template, 0x80), round)
            mstore(add(template, 0xa0), shl(240, 0x1901))
            mstore(add(template, 0xa2), domainSeparator)
        }
    }

    /// @notice In a batch, sets the keys for which a row has no data.
    /// @param row The address in memory of the row: a bitmap of these keys, then one value for each key.
    /// @param size The size of the values, in bytes.
    /// @return content The hash of the row's values, of which `digest` makes the digest.
    function setRow(ReportTemplate template, uint256 row, uint256 size) internal pure returns (bytes32 content) {
        assembly ("memory-safe") {
            mstore(add(template, 0x40), mload(row))
            content := keccak256(add(row, 0x20), size)
        }
    }

    /// @notice Returns the digest that a provider signs to report `value`; in a batch, `value` is the hash of a row's
    /// values.
    function digest(ReportTemplate template, bytes32 value) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            mstore(add(template, 0x60), value)
            mstore(add(template, 0xc2), keccak256(template, 0xa0))
            result := keccak256(add(template, 0xa0), 0x42)
        }
    }
}
