// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../Oracle.sol";
import {KeyForm} from "../types/KeyForm.sol";

/// @notice One provider's signature, and what it signed.
/// @param content What the provider saw; by convention 0 in a report of "no data". In a batch one bit for each key, the lowest for the
/// first: whether the provider has no data for it.
/// @param r The signature's r.
/// @param vs The signature's s, with the parity of v in the highest bit (EIP-2098).
struct Report {
    bytes32 content;
    bytes32 r;
    bytes32 vs;
}

/// @notice One round of many keys. Every provider signs all of its values at once, as one row.
/// @param keyHashes keccak256 of each key, at most 256. A key that was never stored or announced is left out.
/// @param picks One byte for each key: the row whose value the carrier claims the values come to.
/// @param timestamp The round, as in `IDataset.update`.
/// @param values Row by row, one for each key; anything where the row has no data.
/// @param signers As in `IDataset.update`.
/// @param rows One for each signer, in the committee's order.
/// @param absentees As in `IDataset.update`: the members without a row.
/// @param toleranceBps As in `IDataset.update`.
struct Batch {
    bytes32[] keyHashes;
    bytes picks;
    uint256 timestamp;
    bytes32[] values;
    uint256 signers;
    Report[] rows;
    address[] absentees;
    uint256 toleranceBps;
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
/// In a batch it is
///
///     BatchReport(bytes[] keys,uint256 missing,bytes32[] values,uint256 timestamp)
///
/// An update shows the whole committee, member by member in its order: who signed, as recovered from the reports, and
/// who is absent, by address. The hash of that list and of the tolerance must be the stored one: membership,
/// distinctness and the tolerance follow from that one comparison.
interface IDataset is Oracle {
    /// @notice What became of one key of a batch. Every other than STORED leaves it as it was.
    /// UNKNOWN_KEY: never stored, nor announced. STALE_ROUND: the same or a newer round is stored. NO_QUORUM: neither
    /// those with a value nor those without are one. VALUE_TOO_LARGE: the picked value does not fit. UNDECIDED: the absent
    /// members could still decide.
    enum KeyOutcome {
        STORED,
        UNKNOWN_KEY,
        STALE_ROUND,
        NO_QUORUM,
        VALUE_TOO_LARGE,
        UNDECIDED
    }

    // ---------------------------------------------------------------- events

    /// @notice A data point was updated. `value` is 0 unless `status` is OK; `timestamp` is the round's.
    event Updated(bytes32 indexed keyHash, bytes32 value, uint256 timestamp, QueryStatus status);

    /// @notice A key was stored for the first time. `keyHash` is keccak256 of `key`.
    event KeyAdded(bytes32 indexed keyHash, bytes key);

    /// @notice The committee or the tolerance changed: the whole new list, ascending, and the tolerance in basis points.
    event CommitteeChanged(address[] members, uint256 toleranceBps);

    /// @notice The income was shared: so much for each member, and so much in all was taken. In wei.
    event IncomeShared(uint256 share, uint256 paid);

    /// @notice A member's account refused its share, which stays for the next sharing. In wei.
    event ShareRefused(address indexed member, uint256 share);

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

    /// @notice The claimed value is not the lower median: so many values lie below it, and so many above.
    error WrongMedian(bytes32 claimed, uint256 below, uint256 above);

    /// @notice More than half of the committee signed another value than the claimed one.
    error WrongMajority(bytes32 claimed, bytes32 majority);

    /// @notice The absent members could still give one value the majority: bring more reports.
    error Undecided(uint256 reports, uint256 absentees);

    /// @notice A batch has too many keys.
    error TooManyKeys(uint256 keys, uint256 max);

    /// @notice A batch has one value for each key in each row.
    error WrongValueCount(uint256 values, uint256 expected);

    /// @notice A batch has one pick for each key.
    error WrongPickCount(uint256 picks, uint256 keys);

    /// @notice A value does not fit the dataset.
    error ValueTooLarge(bytes32 value, uint256 max);

    /// @notice The key is not of the dataset's form.
    error InvalidKey(bytes key);

    // ---------------------------------------------------------------- errors of governance and income

    /// @notice Too little gas is left to pay the next member. Send more.
    error TooLittleGas(uint256 left, uint256 needed);

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
    /// @param signers One bit for each place in the committee, the lowest for the first: whether its member reports.
    /// @param reports Reports with a value, in the committee's order.
    /// @param absentees The members without such a report, in the committee's order. A member that signed "no data" is one.
    /// @param toleranceBps The committee's tolerance, in basis points.
    /// @return status OK, or DISAGREEMENT, and then 0 is stored instead of `value`.
    function update(
        bytes calldata key,
        uint256 timestamp,
        bytes32 value,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external returns (QueryStatus status);

    /// @notice Stores that more than two thirds of the committee serve a key but cannot read it now.
    /// @dev As `update`, with reports of "no data", whatever value they hold: 0 is stored. A member that signed a value is
    /// an absentee.
    /// @param key As in `update`.
    /// @param timestamp As in `update`.
    /// @param signers As in `update`.
    /// @param reports Reports of "no data", in the committee's order.
    /// @param absentees The members without such a report, in the committee's order.
    /// @param toleranceBps As in `update`.
    function updateNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external;

    /// @notice Stores one round of many keys in one transaction. Each key ends as `update` or `updateNotAvailable` with the
    /// same reports would leave it, or stays as it was.
    /// @param batch The round: its keys, who signed what, and the carrier's claims.
    /// @return outcomes What became of each key: one byte, a `KeyOutcome`.
    function updateBatch(Batch calldata batch) external returns (bytes memory outcomes);

    /// @notice Makes a key known, so that a batch can store it by its hash. A key that is known already is left alone.
    /// @param key The key in ASCII.
    function announce(bytes calldata key) external;

    /// @notice Shares the balance equally among the committee. Open to anyone. What a member's account refuses, and what
    /// cannot be divided, stays for the next sharing.
    /// @param members The whole committee, as the `CommitteeChanged` event has it.
    /// @param toleranceBps Its tolerance, in basis points.
    function shareIncome(address[] calldata members, uint256 toleranceBps) external;

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

    /// @notice Sets the price of one query.
    /// @param price In wei, at most `priceCeiling`.
    function setQueryPrice(uint256 price) external;
}
