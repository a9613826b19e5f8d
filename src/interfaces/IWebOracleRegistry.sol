// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title IWebOracleRegistry
/// @notice Publishes the request specs of Web Oracle keys as events. Anyone may publish. To find a spec, a data
/// provider reads its block from `publishedAt`, then the event in that one block, and checks the hash of the bytes.
interface IWebOracleRegistry {
    /// @notice A spec was published, for the first time or again. `specHash` is keccak256 of `spec`.
    event SpecPublished(bytes32 indexed specHash, bytes spec);

    /// @notice The spec does not have 1 to 8,192 bytes.
    error WrongSpecLength(uint256 length, uint256 max);

    /// @notice Publishes a spec. Publishing it again moves `publishedAt` to this block. Reverts with `WrongSpecLength`.
    /// @param spec The canonical JSON (RFC 8785) of the spec, in UTF-8, 1 to 8,192 bytes. The registry does not
    /// validate it.
    /// @return specHash keccak256 of the spec. The spec's keys begin with "WEB/" and the hash's 64 lowercase hex
    /// digits.
    function publish(bytes calldata spec) external returns (bytes32 specHash);

    /// @notice Returns the number of the block whose event has the spec, as `block.number` gives it; 0 if it was never
    /// published. On chains such as Arbitrum, that is the number of a block of another chain: find the event by its
    /// `specHash`.
    /// @param specHash keccak256 of the spec.
    function publishedAt(bytes32 specHash) external view returns (uint256);
}
