// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title IWebOracleRegistry
/// @notice Where anyone publishes the request spec of a Web Oracle key, as an event. A data provider reads the block from
/// `publishedAt`, the event of that one block, and checks the hash of its bytes.
interface IWebOracleRegistry {
    /// @notice A spec was published, for the first time or again. `specHash` is keccak256 of `spec`.
    event SpecPublished(bytes32 indexed specHash, bytes spec);

    /// @notice A spec has 1 to 8,192 bytes.
    error WrongSpecLength(uint256 length, uint256 max);

    /// @notice Publishes a spec. Publishing it again moves `publishedAt` to this block.
    /// @param spec The spec's canonical JSON (RFC 8785) in UTF-8. The registry does not look into it.
    /// @return specHash What its keys name: "WEB/" and the hash's hex digits.
    function publish(bytes calldata spec) external returns (bytes32 specHash);

    /// @notice The block whose event has the spec; 0 if it was never published.
    /// @param specHash keccak256 of the spec.
    function publishedAt(bytes32 specHash) external view returns (uint256);
}
