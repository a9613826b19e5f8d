// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";

/// @title ReportDomain
/// @notice The EIP-712 domain that a dataset's reports are signed in.
/// @dev OpenZeppelin's EIP712 also watches for a changed address, which a contract without a proxy cannot have, and costs
/// every update more for it.
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
        // The first four bits: the domain has a name, a version, a chain id and a verifying contract.
        return (0x0f, NAME, VERSION, block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    /// @dev After a fork of the chain the id is another one, and reports signed for the old one are refused.
    function _domainSeparator() internal view returns (bytes32) {
        return block.chainid == _chainId ? _separator : _computeDomainSeparator();
    }

    function _computeDomainSeparator() private view returns (bytes32) {
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
