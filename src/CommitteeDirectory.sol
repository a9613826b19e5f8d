// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {ICommitteeDirectory} from "./interfaces/ICommitteeDirectory.sol";

/// @title CommitteeDirectory
/// @notice Keeps the URL at which each data provider answers, as the provider announced it last.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract CommitteeDirectory is ICommitteeDirectory, EIP712("CommitteeDirectory", "1") {
    struct Announcement {
        string url;
        uint256 issuedAt;
    }

    uint256 private constant MAX_URL_LENGTH = 256;

    bytes32 private constant ANNOUNCEMENT_TYPEHASH =
        keccak256("Announcement(address provider,string url,uint256 issuedAt)");

    /// @inheritdoc ICommitteeDirectory
    mapping(address provider => Announcement) public announcementOf;

    /// @inheritdoc ICommitteeDirectory
    function announce(address provider, string calldata url, uint256 issuedAt, bytes calldata signature) external {
        if (bytes(url).length > MAX_URL_LENGTH) revert UrlTooLong(bytes(url).length, MAX_URL_LENGTH);
        if (issuedAt > block.timestamp) revert FutureAnnouncement(issuedAt, block.timestamp);
        uint256 latest = announcementOf[provider].issuedAt;
        if (issuedAt <= latest) revert StaleAnnouncement(issuedAt, latest);
        bytes32 content = keccak256(abi.encode(ANNOUNCEMENT_TYPEHASH, provider, keccak256(bytes(url)), issuedAt));
        (address signer,,) = ECDSA.tryRecoverCalldata(_hashTypedDataV4(content), signature);
        // An invalid signature recovers to the zero address, for which nobody signs.
        if (signer == address(0) || signer != provider) revert WrongSigner(provider, signer);

        announcementOf[provider] = Announcement(url, issuedAt);
        emit Announced(provider, url, issuedAt);
    }
}
