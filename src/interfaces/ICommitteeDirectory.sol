// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title ICommitteeDirectory
/// @notice Lists where the nodes of data providers are. Anyone may send an announcement, because only the provider's
/// signature counts: its key needs no Ether. The directory knows no committees: a reader asks for each member of the
/// committee that it follows.
///
/// An announcement is EIP-712 typed data in the domain (name "CommitteeDirectory", version "1", chainId,
/// verifyingContract):
///
///     Announcement(address provider,string url,address submitter,uint256 issuedAt)
interface ICommitteeDirectory {
    /// @notice A provider announced its node, in place of all that it announced before; with an empty `url`, it
    /// withdrew its node. `submitter` sends the node's transactions; `issuedAt` is when the provider signed, in seconds
    /// since 1970.
    event Announced(address indexed provider, string url, address submitter, uint256 issuedAt);

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

    /// @notice Announces a provider's node. Anyone may call it, with the provider's signature. Reverts with
    /// `UrlTooLong`, `FutureAnnouncement`, `StaleAnnouncement` or `WrongSigner`.
    /// @param provider The account that signs the provider's reports.
    /// @param url The URL of the node, at most 256 bytes; empty to withdraw the node. The directory does not check it:
    /// whoever reads it must treat it as untrusted text.
    /// @param submitter The account that sends the node's transactions.
    /// @param issuedAt When the provider signed, in seconds since 1970: not later than the block, and later than in the
    /// provider's latest announcement.
    /// @param signature The provider's signature, in 65 bytes: r, s (the lower one), v (27 or 28).
    function announce(
        address provider,
        string calldata url,
        address submitter,
        uint256 issuedAt,
        bytes calldata signature
    ) external;

    /// @notice Returns the time and the block of a provider's latest announcement.
    /// @param provider The account that signs the provider's reports.
    /// @return issuedAt When the provider signed it, in seconds since 1970; 0 if it announced nothing.
    /// @return blockNumber The number of the block whose `Announced` event has it, as `block.number` gives it; 0 if
    /// there is none. On chains such as Arbitrum, that is the number of a block of another chain: find the event by
    /// `provider` and `issuedAt`.
    function announcementOf(address provider) external view returns (uint256 issuedAt, uint256 blockNumber);
}
