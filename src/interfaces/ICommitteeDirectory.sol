// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title ICommitteeDirectory
/// @notice Lists the URLs at which data providers answer. Anyone may send an announcement, because only the provider's
/// signature counts: its key needs no Ether. The directory knows no committees: a reader asks for each member of the
/// committee that it follows.
///
/// An announcement is EIP-712 typed data in the domain (name "CommitteeDirectory", version "1", chainId,
/// verifyingContract):
///
///     Announcement(address provider,string url,uint256 issuedAt)
interface ICommitteeDirectory {
    /// @notice A provider announced its URL, in place of the one before; with an empty `url`, it withdrew it.
    /// `issuedAt` is when the provider signed, in seconds since 1970.
    event Announced(address indexed provider, string url, uint256 issuedAt);

    /// @notice The url has more than `max` bytes. Announce a shorter one.
    error UrlTooLong(uint256 length, uint256 max);

    /// @notice The announcement was signed for a time after the block's. Send it later, or correct the signer's clock.
    /// Both in seconds since 1970.
    error FutureAnnouncement(uint256 issuedAt, uint256 blockTimestamp);

    /// @notice The provider's latest announcement is as new or newer. Sign one with a later time. Both in seconds since
    /// 1970.
    error StaleAnnouncement(uint256 issuedAt, uint256 latest);

    /// @notice The signature is not the provider's: it recovers to `signer`, which is zero if the signature is invalid.
    error WrongSigner(address provider, address signer);

    /// @notice Announces the URL at which a provider answers. Anyone may call it, with the provider's signature.
    /// Reverts with `UrlTooLong`, `FutureAnnouncement`, `StaleAnnouncement` or `WrongSigner`.
    /// @param provider The account that signs the provider's reports.
    /// @param url The provider's base URL, to which paths such as `/report` are added, at most 256 bytes; empty to
    /// withdraw it. The directory does not check it: whoever reads it must treat it as untrusted text.
    /// @param issuedAt When the provider signed, in seconds since 1970: not later than the block, and later than in the
    /// provider's latest announcement.
    /// @param signature The provider's signature, in 65 bytes: r, s (the lower one), v (27 or 28).
    function announce(address provider, string calldata url, uint256 issuedAt, bytes calldata signature) external;

    /// @notice Returns a provider's latest announcement.
    /// @param provider The account that signs the provider's reports.
    /// @return url The provider's base URL, which nobody checked; empty if it announced none or withdrew it.
    /// @return issuedAt When the provider signed the announcement, in seconds since 1970; 0 if there never was one.
    function announcementOf(address provider) external view returns (string memory url, uint256 issuedAt);
}
