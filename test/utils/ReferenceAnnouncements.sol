// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

/// @notice Computes an announcement's digest as EIP-712 defines it.
library ReferenceAnnouncements {
    function digest(address directory, address provider, string memory url, uint256 issuedAt)
        internal
        view
        returns (bytes32)
    {
        bytes32 separator = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("CommitteeDirectory"),
                keccak256("1"),
                block.chainid,
                directory
            )
        );
        bytes32 content = keccak256(
            abi.encode(
                keccak256("Announcement(address provider,string url,uint256 issuedAt)"),
                provider,
                keccak256(bytes(url)),
                issuedAt
            )
        );
        return keccak256(abi.encodePacked(hex"1901", separator, content));
    }
}
