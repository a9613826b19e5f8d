// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../Oracle.sol";
import {KeyForm} from "../types/KeyForm.sol";

/// @notice One provider's signed report, as an update carries it.
/// @param value What the provider saw; 0 in a report of "no data".
/// @param r The signature's r.
/// @param vs The signature's s, with the parity of v in the highest bit (EIP-2098).
struct Report {
    bytes32 value;
    bytes32 r;
    bytes32 vs;
}

/// @notice How a dataset is deployed.
/// @param owner Who governs it.
/// @param keyForm The form of its keys. Fixed.
/// @param maxRoundAge How old a round may be when it is stored, in seconds. Fixed.
/// @param priceCeiling The highest price that the owner may ever set, in wei. Fixed.
/// @param queryPrice The price of one query, in wei.
/// @param toleranceBps How far from the median a value may lie and still agree with it, in basis points of it.
/// @param members The committee: 1 to 255 addresses, strictly ascending, none of them zero.
struct DatasetSettings {
    address owner;
    KeyForm keyForm;
    uint256 maxRoundAge;
    uint256 priceCeiling;
    uint256 queryPrice;
    uint256 toleranceBps;
    address[] members;
}

/// @title IDataset
/// @notice What every dataset has beside its read side: a committee of data providers, the updates that their signed
/// reports make, and what its owner governs.
///
/// A report is EIP-712 typed data in the domain (name "Dataset Oracle", version "1", chainId, verifyingContract):
///
///     Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)
///
/// `outcome` is a `QueryStatus`: OK for a value, NOT_AVAILABLE for "no data" (then value is 0). `timestamp` is the
/// round's, in seconds since 1970: all reports of one update carry the same.
///
/// An update shows the whole committee, member by member in its order: who signed, as recovered from the reports, and
/// who is absent, by address. The hash of that list and of the tolerance must be the stored one: membership,
/// distinctness and the tolerance follow from that one comparison.
interface IDataset is Oracle {
    // ---------------------------------------------------------------- events

    /// @notice A data point was updated. `value` is 0 unless `status` is OK; `timestamp` is the round's.
    event Updated(bytes32 indexed keyHash, bytes32 value, uint256 timestamp, QueryStatus status);

    /// @notice A key was stored for the first time. `keyHash` is keccak256 of `key`.
    event KeyAdded(bytes32 indexed keyHash, bytes key);

    /// @notice The committee or the tolerance changed: the whole new list, ascending, and the tolerance in basis points.
    event CommitteeChanged(address[] members, uint256 toleranceBps);

    /// @notice The price of one query changed, in wei.
    event QueryPriceChanged(uint256 price);

    // ---------------------------------------------------------------- errors of a query

    /// @notice A query must be paid exactly. Both in wei.
    error WrongPayment(uint256 sent, uint256 price);

    // ---------------------------------------------------------------- errors of an update

    /// @notice The key already has a report of this round or of a newer one. Both in seconds since 1970.
    error StaleRound(uint256 timestamp, uint256 stored);

    /// @notice The round lies after the block. Both in seconds since 1970.
    error FutureRound(uint256 timestamp, uint256 blockTimestamp);

    /// @notice The round is older than `maxRoundAge` allows. Both in seconds.
    error ExpiredRound(uint256 age, uint256 maxAge);

    /// @notice Not more than two thirds of the committee signed.
    error NoQuorum(uint256 signers, uint256 absentees);

    /// @notice `signers` must have one bit for each report, all of them at places within the committee.
    error WrongSigners(uint256 signers, uint256 reports, uint256 absentees);

    /// @notice Signers, absentees and tolerance are not those of the committee: a signature that does not recover to the
    /// member at its place, a member named twice or not at all, or another tolerance. Both are committee hashes.
    error WrongCommittee(bytes32 shown, bytes32 stored);

    /// @notice The claimed value is not what the reports come to: so many lie below it, and so many above.
    error WrongValue(bytes32 claimed, uint256 below, uint256 above);

    /// @notice A value does not fit the dataset.
    error ValueTooLarge(bytes32 value, uint256 max);

    /// @notice The key is not of the dataset's form.
    error InvalidKey(bytes key);

    // ---------------------------------------------------------------- errors of governance

    /// @notice A committee has 1 to 255 members.
    error WrongCommitteeSize(uint256 members, uint256 max);

    /// @notice Members come strictly ascending, the first above the zero address.
    error UnsortedCommittee(address member, address next);

    /// @notice A tolerance is at most 100 %. Both in basis points.
    error ToleranceTooHigh(uint256 toleranceBps, uint256 max);

    /// @notice The price is above the ceiling fixed at deployment. Both in wei.
    error PriceAboveCeiling(uint256 price, uint256 ceiling);

    // ---------------------------------------------------------------- updates, open to anyone who has the reports

    /// @notice Stores what more than two thirds of the committee say of a key.
    /// @param key The key in ASCII.
    /// @param timestamp The round: newer than the stored one, not after the block, not older than `maxRoundAge`.
    /// @param value What the reports come to, as the carrier claims it; the dataset proves it by counting.
    /// @param toleranceBps The committee's tolerance, in basis points.
    /// @param signers One bit for each place in the committee, the lowest for the first: whether its member reports.
    /// @param reports Reports with a value, in the committee's order.
    /// @param absentees The members without such a report, in the committee's order. A member that signed "no data" is one.
    /// @return status OK, or DISAGREEMENT, and then 0 is stored instead of `value`.
    function update(
        bytes calldata key,
        uint256 timestamp,
        bytes32 value,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) external returns (QueryStatus status);

    /// @notice Stores that more than two thirds of the committee serve a key but cannot read it now.
    /// @dev As `update`, with reports of "no data": every value is 0, and a member that signed a value is an absentee.
    function updateNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) external;

    // ---------------------------------------------------------------- what a carrier needs to know

    /// @notice keccak256 of the tolerance in basis points and the members, each in 32 bytes.
    function committeeHash() external view returns (bytes32);

    /// @notice The block whose `CommitteeChanged` event holds the present committee.
    function committeeBlock() external view returns (uint256);

    /// @notice How old a round may be when it is stored, in seconds.
    function maxRoundAge() external view returns (uint256);

    /// @notice The form of this dataset's keys.
    function keyForm() external view returns (KeyForm);

    /// @notice The highest price that the owner may set, in wei.
    function priceCeiling() external view returns (uint256);

    // ---------------------------------------------------------------- governance, by the owner

    /// @notice Replaces the committee and the tolerance.
    /// @param members 1 to 255 addresses, strictly ascending, none of them zero.
    /// @param toleranceBps How far from the median a value may lie and still agree with it, in basis points of it.
    function setCommittee(address[] calldata members, uint256 toleranceBps) external;

    /// @notice Sets the price of one query, in wei.
    function setQueryPrice(uint256 price) external;
}
