// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";

/// @title ReportDomain
/// @notice Provides the EIP-712 domain in which a dataset's reports are signed.
/// @dev OpenZeppelin's EIP712 is not used: it also checks for a changed address, which is impossible without a proxy,
/// and that check would make every update more expensive.
abstract contract ReportDomain is IERC5267 {
    string private constant NAME = "Dataset Oracle";
    string private constant VERSION = "1";

    uint256 private immutable _chainId;
    bytes32 private immutable _separator;

    constructor() {
        _chainId = block.chainid;
        _separator = _computeDomainSeparator();
    }

    /// @inheritdoc IERC5267
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        // The lowest four bits are set: the domain has a name, a version, a chain id and a verifying contract.
        return (0x0f, NAME, VERSION, block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    /// @dev If a fork of the chain changes its id, reports that were signed for the old id are rejected.
    function _domainSeparator() internal view returns (bytes32) {
        return block.chainid == _chainId ? _separator : _computeDomainSeparator();
    }

    function _computeDomainSeparator() internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(NAME)),
                keccak256(bytes(VERSION)),
                block.chainid,
                address(this)
            )
        );
    }
}
