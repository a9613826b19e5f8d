// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../Oracle.sol";
import {KeyForm} from "../types/KeyForm.sol";

/// @notice One thing that a provider signed: a report of one key, or a row of a batch.
/// @param outcome For a report, its `QueryStatus`; for a row, a bitmap of the keys for which it has no data, lowest bit
/// first.
/// @param keyHashes For a row, keccak256 of each of its keys; for a report, empty.
/// @param values For a row, the values of its keys; for a report, its one value.
/// @param index For a row, the index of the key in it; for a report, 0.
/// @param r The r of the signature.
/// @param vs The s of the signature, with the parity of v in the highest bit (EIP-2098).
struct Statement {
    uint256 outcome;
    bytes32[] keyHashes;
    bytes32[] values;
    uint256 index;
    bytes32 r;
    bytes32 vs;
}

/// @notice The parameters of a dataset's deployment.
/// @param owner The account that governs the dataset.
/// @param keyForm The form of its keys. Immutable.
/// @param maxRoundAge The maximum age of a round when it is stored, in seconds. Immutable.
/// @param priceCeiling The highest query price that the owner can ever set, in wei, below 2^72. Immutable.
/// @param queryPrice The initial price of one query, in wei.
/// @param subscriptionPriceCeiling The highest price of a subscription's period that the owner can ever set, in wei.
/// Immutable.
/// @param subscriptionPrice The initial price of a subscription's period, in wei.
/// @param toleranceBps The distance from the median within which a value agrees with it, in basis points of the median,
/// at most 10,000.
/// @param members The committee: 1 to 255 addresses, strictly ascending, none of them zero.
struct DatasetSettings {
    address owner;
    KeyForm keyForm;
    uint256 maxRoundAge;
    uint256 priceCeiling;
    uint256 queryPrice;
    uint256 subscriptionPriceCeiling;
    uint256 subscriptionPrice;
    uint256 toleranceBps;
    address[] members;
}

/// @title IDataset
/// @notice All of a dataset beyond `Oracle`: reads without a payment per query, updates, verifications, accusations,
/// income and governance.
///
/// A report is EIP-712 typed data in the domain (name "Dataset Oracle", version "1", chainId, verifyingContract):
///
///     Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)
///
/// `outcome` is a `QueryStatus`: OK for a value, NOT_AVAILABLE for "no data" (then value is 0). `timestamp` is the
/// round, in seconds since 1970: it is the same in all reports of one update.
///
/// In a batch, a report is
///
///     BatchReport(bytes[] keys,uint256 missing,bytes32[] values,uint256 timestamp)
///
/// An update lists the whole committee in its order: signers are recovered from their reports, absent members are given
/// by address. The tolerance and that list are hashed, and the upper 184 bits must equal those of `committeeHash`. This
/// single comparison proves membership, distinctness and the tolerance.
///
/// Updates are packed: their bytes follow each other without padding, numbers with the highest byte first. A header of
/// eleven bytes is
///
///     1  kind: 1 for an update with values, 2 for one without data, 3 for a batch
///     5  timestamp: the round
///     2  the committee's tolerance, in basis points
///     1  the number of its members
///     2  the length of the key in bytes; in a batch, the number of keys, at most 256
///
/// An update of one key continues with
///
///     *  the key
///     *  a bitmap of the members that signed, the first one in the lowest bit, in as few bytes as the members need
///     *  with values: the value that the relayer, who sends the update, claims to be the right one, as one byte with its
///        length and as many bytes, without leading zeros
///     *  for each member, in committee order: its address if it is absent; otherwise, with values, its value in the same
///        form, or 0xff if that is the claimed one, and then r and vs of its signature (EIP-2098). An update without data
///        has reports of "no data" with the value 0.
///
/// A batch continues with
///
///     *  keccak256 of each key
///     *  one byte for each key: the index of the row whose value the relayer claims for the key. Picks are not signed,
///        so that of rows with the same value any one may be picked, and any where no value is stored
///     *  a bitmap of the members that signed, as above
///     *  for each member, in committee order: its address if it is absent; otherwise its row, which is one byte with the
///        length that its values have, without a leading zero in the largest; a bitmap of the keys for which it has no
///        data, the first one in the lowest bit, in as few bytes as the keys need; its value for each key, ignored where
///        it has no data; r and vs.
///
/// So each content has exactly one form, apart from picks. Whatever follows the ABI's argument in the calldata is ignored.
///
/// A dataset is also an `Ownable2Step`, which has `owner` and `pendingOwner`, and gives the domain by ERC-5267,
/// `eip712Domain`: ask its address through OpenZeppelin's `Ownable2Step` and `IERC5267`.
interface IDataset is Oracle {
    /// @notice The outcome of one key of a batch. Every outcome but STORED leaves the key unchanged. UNKNOWN_KEY: the
    /// key was never stored or announced. STALE_ROUND: the same or a newer round is stored. NO_QUORUM: neither the rows
    /// with a value nor the rows without data are a quorum. VALUE_TOO_LARGE: the picked value does not fit the dataset.
    /// UNDECIDED: the absent members could still decide the outcome. WRONG_CLAIM: the rows contradict the picked value,
    /// or there is no row of that index.
    enum KeyOutcome {
        STORED,
        UNKNOWN_KEY,
        STALE_ROUND,
        NO_QUORUM,
        VALUE_TOO_LARGE,
        UNDECIDED,
        WRONG_CLAIM
    }

    /// @notice The rule by which a dataset decides from the reported values. MEDIAN: their lower median. MAJORITY: the
    /// value that more than half of the committee signed.
    enum Judgement {
        MEDIAN,
        MAJORITY
    }

    // ---------------------------------------------------------------- events

    /// @notice A data point was updated. `value` is 0 unless `status` is OK; `timestamp` is the round, in seconds since
    /// 1970.
    event Updated(bytes32 indexed keyHash, bytes32 value, uint256 timestamp, QueryStatus status);

    /// @notice A key was stored or announced for the first time. `keyHash` is keccak256 of `key`.
    event KeyAdded(bytes32 indexed keyHash, bytes key);

    /// @notice The committee or the tolerance changed. `members` is the whole new list, ascending; the tolerance is in
    /// basis points.
    event CommitteeChanged(address[] members, uint256 toleranceBps);

    /// @notice A member that contradicted itself was removed from the committee. `accuser` proved it and got the
    /// member's share of the unshared income: `reward`, in wei. The event `CommitteeChanged` before this one has the
    /// new list.
    event MemberEjected(address indexed member, address indexed accuser, uint256 reward);

    /// @notice The income of a committee, current or former, was shared: `share` for each member, and `paid` in total to
    /// those that accepted it. Both in wei.
    event IncomeShared(bytes32 indexed committeeHash, uint256 share, uint256 paid);

    /// @notice The account of a member rejected its share, which the dataset now owes to the member. In wei.
    event ShareRefused(address indexed member, uint256 share);

    /// @notice A member claimed what it was owed. In wei.
    event SharesClaimed(address indexed member, address indexed to, uint256 amount);

    /// @notice The price of one query changed, in wei.
    event QueryPriceChanged(uint256 price);

    /// @notice `payer` paid for `reader` to read without payment until `until`, inclusive, in seconds since 1970.
    event Subscribed(address indexed reader, address indexed payer, uint256 until);

    /// @notice The price of a subscription's period changed, in wei.
    event SubscriptionPriceChanged(uint256 price);

    // ---------------------------------------------------------------- errors of a query or a subscription

    /// @notice The payment is not the exact price. Both in wei.
    error WrongPayment(uint256 sent, uint256 price);

    /// @notice Queries are charged, and `reader`, the caller, has no running subscription. To get one, anyone calls
    /// `subscribe(reader, periods)` with `price * periods` wei, for `periods` times `period` seconds.
    error SubscriptionNeeded(address reader, uint256 price, uint256 period);

    /// @notice A subscription of no periods was requested. Buy at least one.
    error NoPeriods();

    /// @notice The subscription would run until `until`. Buy fewer periods: it may run until `latest`. Both in seconds
    /// since 1970.
    error SubscriptionTooLong(uint256 until, uint256 latest);

    // ---------------------------------------------------------------- errors of an update that is not well-formed

    /// @notice The first byte names another kind of update than this function takes: call the one that takes it.
    error WrongKind(uint256 kind, uint256 expected);

    /// @notice The packed update has `length` bytes, but the items that it announces take `expected`, as far as they can
    /// be read. Pass it on as the operator returned it.
    error WrongLength(uint256 length, uint256 expected);

    /// @notice The bitmap has a bit beyond the `used` lowest ones, which are the committee's members or, in a row of a
    /// batch, the keys.
    error UnusedBits(uint256 bitmap, uint256 used);

    /// @notice A value, or the values of a row, have more than `max` bytes.
    error TooLong(uint256 length, uint256 max);

    /// @notice The value at this offset of the packed update, or the largest of the row there, fits in fewer bytes.
    error LeadingZero(uint256 offset);

    /// @notice The value at this offset of the packed update is the claimed one: write it as 0xff.
    error RepeatedClaim(uint256 offset);

    // ---------------------------------------------------------------- errors of an update

    /// @notice The round is later than the block: retry in a later block. Both in seconds since 1970.
    error FutureRound(uint256 timestamp, uint256 blockTimestamp);

    /// @notice The round is older than `maxRoundAge` allows: request newer reports. Both in seconds.
    error ExpiredRound(uint256 age, uint256 maxAge);

    /// @notice Two thirds of the committee or fewer signed: submit more reports.
    error NoQuorum(uint256 signers, uint256 absentees);

    /// @notice Signers, absentees and tolerance (in an accusation, members and tolerance) do not match the committee: a
    /// signature does not recover to the member at its place, a member is named twice or not at all, or the tolerance
    /// differs. If the committee has changed, rebuild the call for the new one. Both are committee hashes.
    error WrongCommittee(bytes32 shown, bytes32 stored);

    /// @notice The claimed value is not the lower median of the reports: claim the lower median. `below` and `above`
    /// count the values on each side of the claimed one.
    error WrongMedian(bytes32 claimed, uint256 below, uint256 above);

    /// @notice More than half of the committee signed a value other than the claimed one, or nobody signed the claimed
    /// one: claim `majority`, the value that most members signed.
    error WrongMajority(bytes32 claimed, bytes32 majority);

    /// @notice The absent members could still give one value a majority: submit more reports.
    error Undecided(uint256 reports, uint256 absentees);

    /// @notice The batch, or the row of a statement, has more than `max` keys. A batch can be split; a signed row
    /// cannot.
    error TooManyKeys(uint256 keys, uint256 max);

    /// @notice The value is larger than `max`, the largest that the dataset can store.
    error ValueTooLarge(bytes32 value, uint256 max);

    /// @notice The key does not have the dataset's key form.
    error InvalidKey(bytes key);

    // ---------------------------------------------------------------- errors of an accusation

    /// @notice Both statements say the same about the key, or are the same statement. Each hash is keccak256 of an
    /// outcome and a value, in 32 bytes each.
    error NoContradiction(bytes32 a, bytes32 b);

    /// @notice The statements were signed by different accounts, `a` and `b`; zero stands for no valid signature.
    error DifferentSigners(address a, address b);

    /// @notice The row has another key at the statement's index. Both are keccak256 of a key.
    error WrongKey(bytes32 named, bytes32 keyHash);

    /// @notice The signer of both statements is not a member of the committee, so nobody can be ejected; zero stands
    /// for no valid signature.
    error NotAMember(address signer);

    /// @notice The committee is too small to eject a member: at least `min` must be left. Only the owner can replace
    /// it.
    error CommitteeTooSmall(uint256 members, uint256 min);

    /// @notice The round is not later than the time at which the owner set the committee. Both in seconds since 1970.
    error RoundBeforeCommittee(uint256 timestamp, uint256 beginning);

    /// @notice The accuser's account rejected its reward. Accuse from one that accepts Ether. The amount is in wei.
    error RewardRejected(address accuser, uint256 amount);

    // ---------------------------------------------------------------- errors of governance and income

    /// @notice The hash is neither the current committee's nor that of a former one with unshared income: its income
    /// was shared already, or a member or the tolerance differs from its `CommitteeChanged` event.
    error NothingToShare(bytes32 committeeHash);

    /// @notice The caller is owed nothing: its account rejected no share, or it has already claimed the rejected ones.
    error NothingToClaim(address member);

    /// @notice The account rejected the claimed shares. Name one that accepts Ether. The amount is in wei.
    error ClaimRejected(address to, uint256 amount);

    /// @notice Too little gas is left to pay the next member. Use a higher gas limit. Both in gas.
    error TooLittleGas(uint256 left, uint256 needed);

    /// @notice The committee does not have 1 to `max` members.
    error WrongCommitteeSize(uint256 members, uint256 max);

    /// @notice The members are not strictly ascending, or the first is the zero address. Sort them by address, each
    /// once.
    error UnsortedCommittee(address member, address next);

    /// @notice The tolerance is above 100 %. Both in basis points.
    error ToleranceTooHigh(uint256 toleranceBps, uint256 max);

    /// @notice The price is above the ceiling fixed at deployment, or the ceiling is above the highest one possible.
    /// Set a lower one. Both in wei.
    error PriceAboveCeiling(uint256 price, uint256 ceiling);

    // ---------------------------------------------------------------- reading without a payment per query

    /// @notice Returns what `query` answers, without a payment, so that contracts can read in `view` functions. The
    /// caller may read while the query price is 0, or until its subscription ends. A call without an origin, which is
    /// an `eth_call` without a sender, or with the zero address as its sender, which every node understands, may always
    /// read. Reverts with `SubscriptionNeeded` for any other caller.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @return output As in `query`.
    /// @return updatedAt As in `query`.
    /// @return status As in `query`.
    function read(bytes calldata key) external view returns (bytes32 output, uint256 updatedAt, QueryStatus status);

    /// @notice Pays for an address to read without payment for some periods: from now on, or from the end of its
    /// running subscription. Anyone may pay for anyone. Payments are not returned, and a later price does not change
    /// what was bought. Reverts with `NoPeriods`, with `SubscriptionTooLong`, or with `WrongPayment` unless exactly the
    /// price of `costOfSubscription` is sent for each period.
    /// @param reader The address that reads, which is the `msg.sender` of `read`: for an adapter, the adapter's own
    /// address.
    /// @param periods At least 1; the subscription may run for at most 120 periods from now.
    /// @return until When the subscription ends: the last second in which `reader` may read, in seconds since 1970.
    function subscribe(address reader, uint256 periods) external payable returns (uint256 until);

    /// @notice Returns the last second in which an address may read by subscription, in seconds since 1970; 0 if it
    /// never had one.
    /// @param reader The address that reads.
    function subscribedUntil(address reader) external view returns (uint256);

    /// @notice Returns what a subscription costs.
    /// @return price The price of one period, in wei.
    /// @return period The length of a period, in seconds: 30 days.
    /// @return ceiling The highest price that the owner can set, in wei.
    function costOfSubscription() external view returns (uint256 price, uint256 period, uint256 ceiling);

    // ---------------------------------------------------------------- updates, open to anyone with signed reports

    /// @notice Stores the value of a key that more than two thirds of the committee reported on. Anyone may call it. If
    /// the same round or a newer one is stored, changes nothing, checks nothing and does not revert, so that nobody can
    /// make an update fail by sending its reports first.
    /// @dev For a newer round, may revert with `FutureRound`, `ExpiredRound`, `InvalidKey`, `NoQuorum`,
    /// `WrongCommittee`, `ValueTooLarge`, `Undecided`, and `WrongMedian` or `WrongMajority`, and with the errors of an
    /// update that is not well-formed. Of a round that is not newer, only `WrongKind` and a key that is cut off
    /// (`WrongLength`) are refused.
    /// @param packed An update with values. The round must not be later than the block, nor older than `maxRoundAge`.
    /// Members that signed "no data" count as absent. The dataset verifies the claimed value by counting.
    /// @return status The status that is stored now. For a new round, it is OK or DISAGREEMENT; with DISAGREEMENT, 0 is
    /// stored instead of the claimed value.
    /// @return isNew True if this call stored the round; false if the same round or a newer one was stored before.
    function update(bytes calldata packed) external returns (QueryStatus status, bool isNew);

    /// @notice Stores that more than two thirds of the committee serve a key but have no data for it now. Anyone may
    /// call it.
    /// @dev Works like `update`, with reports of "no data". 0 is stored. A member that signed a value counts as absent.
    /// @param packed An update without data.
    /// @return status The status that is stored now: NOT_AVAILABLE if the round is new.
    /// @return isNew As in `update`.
    function updateNotAvailable(bytes calldata packed) external returns (QueryStatus status, bool isNew);

    /// @notice Stores one round of many keys in one transaction. Anyone may call it. Every provider signs all of its
    /// values at once, as one row. Each key ends up as `update` or `updateNotAvailable` with the same reports would leave
    /// it, or stays as it was: then its outcome says why, and the other keys are stored. A batch adds no keys:
    /// `announce` those that were never stored.
    /// @dev May revert as a whole, with `TooManyKeys`, `FutureRound`, `ExpiredRound`, `NoQuorum` or `WrongCommittee`, and
    /// with the errors of an update that is not well-formed.
    /// @param packed A batch.
    /// @return outcomes The outcome of each key, in the order of the keys.
    function updateBatch(bytes calldata packed) external returns (KeyOutcome[] memory outcomes);

    // ---------------------------------------------------------------- verification, open to anyone with signed reports

    /// @notice Returns the answer that the reports prove: the one that `query` would give after `update` with the same
    /// argument, if neither their round nor a newer one was stored yet. Anyone may call it. Stores nothing, and reverts
    /// with the errors of `update` except `InvalidKey`. What is stored under the key is not read: no earlier update
    /// changes the answer, and a round that is older than the stored one is answered too.
    /// @dev Costs exactly `queryPrice`, or reverts with `WrongPayment`; a caller that may `read` without payment may also
    /// send nothing. Whoever chooses the reports chooses among all rounds of the last `maxRoundAge` seconds: a contract
    /// that takes them from a stranger should limit the age of `updatedAt`, and one that must never go back in time
    /// should remember the last `updatedAt`, or call `update` and `query`. A key need not be announced, and its form is
    /// not checked: a quorum signed it, and no honest member signs a key that the dataset cannot have.
    /// @param packed As in `update`.
    /// @return output As in `query`.
    /// @return updatedAt The round.
    /// @return status As in `query`.
    function verify(bytes calldata packed)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status);

    /// @notice Returns the answer that reports of "no data" prove: the one that `query` would give after
    /// `updateNotAvailable` with the same argument, if neither their round nor a newer one was stored yet. Stores
    /// nothing.
    /// @dev Works like `verify`.
    /// @param packed As in `updateNotAvailable`.
    /// @return output 0.
    /// @return updatedAt As in `verify`.
    /// @return status NOT_AVAILABLE.
    function verifyNotAvailable(bytes calldata packed)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status);

    // ---------------------------------------------------------------- accusations, open to anyone with the proof

    /// @notice Ejects a member of the committee that signed two different contents for one key and round, and pays its
    /// share of the unshared income to the caller. Anyone may call it. The other members' income becomes that of the
    /// remaining committee. A round counts only if it is later than the time at which the owner set the committee. At
    /// least four members must be left: only the owner can replace a smaller committee.
    /// @dev May revert with `NoContradiction`, `DifferentSigners`, `WrongKey`, `TooManyKeys`, `WrongCommittee`,
    /// `CommitteeTooSmall`, `RoundBeforeCommittee`, `NotAMember` or `RewardRejected`, and panics if the `index` of a
    /// statement is out of range.
    /// @param keyHash keccak256 of the key on which the statements contradict each other.
    /// @param timestamp The round of both statements.
    /// @param a One statement that the member signed.
    /// @param b Another one, which contradicts it. Two statements of "no data" say the same, whatever their values.
    /// @param members The whole committee, as in its `CommitteeChanged` event.
    /// @param toleranceBps Its tolerance, in basis points.
    function accuse(
        bytes32 keyHash,
        uint256 timestamp,
        Statement calldata a,
        Statement calldata b,
        address[] calldata members,
        uint256 toleranceBps
    ) external;

    // ---------------------------------------------------------------- keys and income

    /// @notice Makes a key known, so that a batch can refer to it by its hash. Anyone may call it. Does nothing if the
    /// key is known already. Reverts with `InvalidKey` if it does not have the dataset's key form.
    /// @param key The key in ASCII.
    function announce(bytes calldata key) external;

    /// @notice Shares the unshared income of one committee equally among its members. Anyone may call it, for the
    /// current committee and for every former one. A member's account gets 10,000 gas to accept its share; a share that
    /// it rejects is owed to it, and the other members get no more. The remainder of the division stays with the
    /// committee for the next time. Reverts with `NothingToShare` or `TooLittleGas`.
    /// @dev A share is also rejected if the member's account calls this function while it is being paid and passes the
    /// error on (`ReentrancyGuardReentrantCall`), or if it is locked because this very call comes from it.
    /// @param members The whole committee, as in its `CommitteeChanged` event.
    /// @param toleranceBps Its tolerance, in basis points.
    function shareIncome(address[] calldata members, uint256 toleranceBps) external;

    /// @notice Sends all that the caller is owed, which is the shares that its account rejected. Reverts with
    /// `NothingToClaim`, or with `ClaimRejected` if the receiving account rejects the amount.
    /// @param to The account that receives it.
    function claimShares(address to) external;

    // ---------------------------------------------------------------- views of the income

    /// @notice Returns the income of a committee, current or former, that was not shared yet: what queries,
    /// verifications and subscriptions paid while it was the current one, and what it took over when a member was
    /// ejected.
    /// @param committee The hash of a current or former committee, as `committeeHash` was then.
    /// @return income In wei.
    function unsharedIncomeOf(bytes32 committee) external view returns (uint256 income);

    /// @notice Returns what a member can claim: the shares that its account rejected.
    /// @param member A member of the current committee or of a former one.
    /// @return amount In wei.
    function unpaidShares(address member) external view returns (uint256 amount);

    // ---------------------------------------------------------------- views for relayers

    /// @notice Returns keccak256 of the tolerance in basis points and the members in ascending order, each in 32 bytes.
    function committeeHash() external view returns (bytes32);

    /// @notice Returns the number of the block whose `CommitteeChanged` event has the current committee, as
    /// `block.number` gives it. On chains such as Arbitrum, that is the number of a block of another chain: search for
    /// the dataset's events, and recognize the right one by `committeeHash`.
    function committeeBlock() external view returns (uint256);

    /// @notice Returns the maximum age of a round when it is stored, in seconds.
    function maxRoundAge() external view returns (uint256);

    /// @notice Returns the form of this dataset's keys.
    function keyForm() external view returns (KeyForm);

    /// @notice Returns how this dataset decides from the reported values.
    function judgement() external view returns (Judgement);

    /// @notice Returns the highest query price that the owner can set, in wei.
    function priceCeiling() external view returns (uint256);

    // ---------------------------------------------------------------- governance, by the owner

    /// @notice Replaces the committee and the tolerance. Only the owner may call it; reverts with
    /// `OwnableUnauthorizedAccount` for anyone else. The income until now stays the old committee's, to be shared by
    /// `shareIncome` at any time. Reverts with `WrongCommitteeSize`, `UnsortedCommittee` or `ToleranceTooHigh` if the
    /// arguments are invalid.
    /// @param members 1 to 255 addresses, strictly ascending, none of them zero.
    /// @param toleranceBps The distance from the median within which a value agrees with it, in basis points of the
    /// median, at most 10,000.
    function setCommittee(address[] calldata members, uint256 toleranceBps) external;

    /// @notice Sets the price of one query. Only the owner may call it; reverts with `OwnableUnauthorizedAccount` for
    /// anyone else, and with `PriceAboveCeiling` if the price is too high.
    /// @param price In wei, at most `priceCeiling`.
    function setQueryPrice(uint256 price) external;

    /// @notice Sets the price of one period of a subscription. Only the owner may call it; reverts with
    /// `OwnableUnauthorizedAccount` for anyone else. Reverts with `PriceAboveCeiling` if the price is too high.
    /// Subscriptions that were paid for keep their end.
    /// @param price In wei, at most the ceiling of `costOfSubscription`.
    function setSubscriptionPrice(uint256 price) external;
}
