// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IWebOracleRegistry} from "./interfaces/IWebOracleRegistry.sol";

/// @title WebOracleRegistry
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract WebOracleRegistry is IWebOracleRegistry {
    uint256 private constant MAX_SPEC_LENGTH = 8_192;

    /// @inheritdoc IWebOracleRegistry
    mapping(bytes32 specHash => uint256) public publishedAt;

    /// @inheritdoc IWebOracleRegistry
    function publish(bytes calldata spec) external returns (bytes32 specHash) {
        if (spec.length == 0 || spec.length > MAX_SPEC_LENGTH) revert WrongSpecLength(spec.length, MAX_SPEC_LENGTH);
        specHash = keccak256(spec);
        publishedAt[specHash] = block.number;
        emit SpecPublished(specHash, spec);
    }
}
