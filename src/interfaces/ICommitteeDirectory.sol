// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title ICommitteeDirectory
/// @notice Tells where the nodes of data providers are. Anyone may send an announcement; only the provider's signature
/// makes it one, so that its key needs no Ether. The directory knows no committees: whoever reads it asks for the members
/// of the committee that it follows.
///
/// An announcement is EIP-712 typed data in the domain (name "CommitteeDirectory", version "1", chainId,
/// verifyingContract):
///
///     Announcement(address provider,string url,address submitter,uint256 issuedAt)
interface ICommitteeDirectory {
    /// @notice A provider announced its node, in place of all that it announced before. Without a url, it withdrew it.
    /// `submitter` sends the node's transactions; `issuedAt` is when the provider signed, in seconds since 1970.
    event Announced(address indexed provider, string url, address submitter, uint256 issuedAt);

    /// @notice The url has more bytes than the directory takes.
    error UrlTooLong(uint256 length, uint256 max);

    /// @notice The announcement was signed for a time after the block's. Both in seconds since 1970.
    error FutureAnnouncement(uint256 issuedAt, uint256 blockTimestamp);

    /// @notice The provider's latest announcement is as new or newer. Sign one with a later time. Both in seconds since
    /// 1970.
    error StaleAnnouncement(uint256 issuedAt, uint256 latest);

    /// @notice The signature is not the provider's: it recovers to `signer`, which is zero if it is no valid signature.
    error WrongSigner(address provider, address signer);

    /// @notice Announces a provider's node.
    /// @param provider The account that signs the provider's reports.
    /// @param url Where the node answers, in at most 256 bytes; empty to withdraw it. The directory does not check what
    /// it is: whoever reads it must take it for text of a stranger.
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

    /// @notice Returns where a provider's latest announcement is.
    /// @param provider The account that signs the provider's reports.
    /// @return issuedAt When the provider signed it, in seconds since 1970; 0 if it announced nothing.
    /// @return blockNumber The block whose `Announced` event has it, as `block.number` tells it; 0 if there is none. On
    /// chains such as Arbitrum that is a block of another chain: find the event by `provider` and `issuedAt`.
    function announcementOf(address provider) external view returns (uint256 issuedAt, uint256 blockNumber);
}
