// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Accusations} from "./Accusations.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {Oracle} from "./Oracle.sol";
import {Subscriptions} from "./Subscriptions.sol";
import {BitCount} from "./libraries/BitCount.sol";
import {Calldata} from "./libraries/Calldata.sol";
import {UpdatedEvent} from "./libraries/UpdatedEvent.sol";
import {Quorum} from "./libraries/Quorum.sol";
import {SignedReports} from "./libraries/SignedReports.sol";
import {ReportedValues} from "./types/ReportedValues.sol";
import {Committee, CommitteeLibrary} from "./types/Committee.sol";
import {DataPoint, DataPointLibrary} from "./types/DataPoint.sol";
import {KeyForm, KeyFormLibrary} from "./types/KeyForm.sol";
import {Cursor, CursorLibrary, Header, HeaderLibrary} from "./types/PackedUpdate.sol";
import {BATCH_TYPEHASH, REPORT_TYPEHASH, ReportTemplate} from "./types/ReportTemplate.sol";

/// @title Dataset
/// @notice Stores the data points of a committee of data providers and sells reads of them. Each kind of dataset
/// defines how the reported values are judged (`_judge`) and where the result is stored (`_save`, `_load`).
abstract contract Dataset is Subscriptions, Accusations {
    using KeyFormLibrary for KeyForm;

    /// @inheritdoc IDataset
    uint256 public immutable maxRoundAge;

    /// @inheritdoc IDataset
    KeyForm public immutable keyForm;

    /// @dev What is stored of a key. A pointer to it is passed around, so that its slot is hashed only once.
    /// @param value What does not fit the data point, in a majority dataset.
    struct Slot {
        DataPoint point;
        bytes32 value;
    }

    /// @dev There is no getter, because contracts have to pay for what they read.
    mapping(bytes32 keyHash => Slot) private _slots;

    constructor(DatasetSettings memory settings) Subscriptions(settings) {
        maxRoundAge = settings.maxRoundAge;
        keyForm = settings.keyForm;
    }

    // ---------------------------------------------------------------- reading

    /// @inheritdoc Oracle
    function query(bytes calldata input)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        uint256 price = queryPrice();
        if (msg.value != price) revert WrongPayment(msg.value, price);
        return _answer(input);
    }

    /// @inheritdoc IDataset
    function read(bytes calldata key) external view returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        _requireFreeReading();
        return _answer(key);
    }

    /// @inheritdoc IDataset
    function verify(bytes calldata packed)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        (output, updatedAt, status) = _verify(HeaderLibrary.VALUES, packed);
    }

    /// @inheritdoc IDataset
    function verifyNotAvailable(bytes calldata packed)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        (output, updatedAt, status) = _verify(HeaderLibrary.NO_DATA, packed);
    }

    // ---------------------------------------------------------------- updating

    /// @inheritdoc IDataset
    function update(bytes calldata packed) external returns (QueryStatus status, bool isNew) {
        (status, isNew) = _update(HeaderLibrary.VALUES, packed);
    }

    /// @inheritdoc IDataset
    function updateNotAvailable(bytes calldata packed) external returns (QueryStatus status, bool isNew) {
        (status, isNew) = _update(HeaderLibrary.NO_DATA, packed);
    }

    /// @inheritdoc IDataset
    function updateBatch(bytes calldata packed) external returns (KeyOutcome[] memory outcomes) {
        Header header = HeaderLibrary.read(packed, HeaderLibrary.BATCH);
        if (packed.length < HeaderLibrary.SIZE) revert WrongLength(packed.length, HeaderLibrary.SIZE);
        uint256 keys = header.size();
        if (keys > MAX_BATCH) revert TooManyKeys(keys, MAX_BATCH);
        _checkRound(header.timestamp());
        Cursor keyHash = CursorLibrary.create(packed, HeaderLibrary.SIZE);
        _checkRows(header, keyHash.hash(keys), packed);

        Cursor pick = keyHash.skip(keys << 5);
        bool isComplete = ReportedValues.keysWithMissing() == 0;
        outcomes = new KeyOutcome[](keys);
        for (uint256 i = 0; i < keys; ++i) {
            if (!isComplete) ReportedValues.setMissing(i);
            _setOutcome(outcomes, i, _updateOne(header, keyHash.word(), pick.octet()));
            keyHash = keyHash.skip(32);
            pick = pick.skip(1);
            ReportedValues.advance();
        }
        _return(outcomes);
    }

    /// @inheritdoc IDataset
    function announce(bytes calldata key) external {
        bytes32 keyHash = Calldata.hash(key);
        Slot storage slot = _slots[keyHash];
        if (!slot.point.isEmpty()) return;
        _checkKey(key);
        emit KeyAdded(keyHash, key);
        slot.point = DataPointLibrary.pack(0, 0, QueryStatus.NOT_AVAILABLE);
    }

    // ---------------------------------------------------------------- rules of each kind of dataset

    /// @notice Judges a claimed value against the `ReportedValues`, which a quorum of the committee signed.
    /// @param value The value that the relayer claims.
    /// @param absent The number of committee members without a value here.
    /// @return outcome STORED if something can be stored, otherwise UNDECIDED or WRONG_CLAIM.
    /// @return status OK if `value` is to be stored, DISAGREEMENT if 0 is; meaningless unless `outcome` is STORED.
    function _judge(bytes32 value, uint256 toleranceBps, uint256 absent)
        internal
        pure
        virtual
        returns (KeyOutcome outcome, QueryStatus status);

    /// @notice Reverts with the error that says why a claim is wrong. Called only if `_judge` has found that it is.
    function _revertWrongClaim(bytes32 value) internal pure virtual;

    /// @notice Returns the largest value that can be stored.
    function _maxValue() internal pure virtual returns (uint256);

    /// @notice Stores the value of a key, which is 0 unless its status is OK.
    /// @return packed What is stored in the data point itself.
    function _save(Slot storage slot, bytes32 value) internal virtual returns (uint256 packed);

    /// @notice Returns the value that `_save` stored.
    function _load(Slot storage slot, DataPoint point) internal view virtual returns (bytes32 value);

    // ---------------------------------------------------------------- rules of every reading

    /// @dev Ends the call with the answer to a query of the key.
    function _answer(bytes calldata key) private view returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        Slot storage slot = _slots[Calldata.hash(key)];
        DataPoint point = slot.point;
        updatedAt = point.timestamp();
        if (updatedAt == 0) _return(0, 0, _statusWithoutData(key));
        status = point.status();
        output = _load(slot, point);
        _return(output, updatedAt, status);
    }

    /// @dev Ends the call with these return values. The compiler would first check that `status` is a valid enum value,
    /// and build the answer elsewhere in memory.
    function _return(bytes32 output, uint256 updatedAt, QueryStatus status) private pure {
        assembly ("memory-safe") {
            mstore(0x00, output)
            mstore(0x20, updatedAt)
            mstore(0x40, status)
            return(0x00, 0x60)
        }
    }

    /// @dev Does the same for the return values of an update.
    function _return(QueryStatus status, bool isNew) private pure {
        assembly ("memory-safe") {
            mstore(0x00, status)
            mstore(0x20, isNew)
            return(0x00, 0x40)
        }
    }

    /// @dev A verification costs what a query costs. A caller that may read without paying may pay nothing instead.
    function _requireVerificationPrice() private view {
        if (msg.value == queryPrice()) return;
        if (msg.value != 0 || !_mayReadFree()) revert WrongPayment(msg.value, queryPrice());
    }

    // ---------------------------------------------------------------- rules of every update

    function _checkRound(uint256 timestamp) private view {
        if (timestamp > block.timestamp) revert FutureRound(timestamp, block.timestamp);
        unchecked {
            // The check above rules out an underflow.
            uint256 age = block.timestamp - timestamp;
            if (age > maxRoundAge) revert ExpiredRound(age, maxRoundAge);
        }
    }

    /// @dev Returns false if the same round or a newer one is stored: the update has nothing to change, and must not
    /// fail because somebody was faster. Otherwise reverts unless the round can be stored under the key.
    function _isNew(DataPoint point, bytes calldata key, uint256 timestamp) private view returns (bool) {
        if (timestamp <= point.timestamp()) return false;
        _checkRound(timestamp);
        if (point.isEmpty()) _checkKey(key);
        return true;
    }

    /// @dev Returns the status that a query of the key reports.
    function _storedStatus(DataPoint point, bytes calldata key) private view returns (QueryStatus) {
        return point.timestamp() == 0 ? _statusWithoutData(key) : point.status();
    }

    /// @dev The form is checked only if nothing is stored, so that the common path does not pay for it.
    function _statusWithoutData(bytes calldata key) private view returns (QueryStatus) {
        return keyForm.matches(key) ? QueryStatus.NOT_AVAILABLE : QueryStatus.INVALID;
    }

    function _checkKey(bytes calldata key) private view {
        if (!keyForm.matches(key)) revert InvalidKey(key);
    }

    /// @dev Ends the call with what a query would answer after the update.
    function _verify(uint256 kind, bytes calldata packed) private view returns (bytes32, uint256, QueryStatus) {
        _requireVerificationPrice();
        Header header = HeaderLibrary.read(packed, kind);
        bytes32 keyHash = Calldata.hash(header.key(packed));
        _checkRound(header.timestamp());
        (bytes32 output, QueryStatus status) = _derive(header, keyHash, packed);
        _return(output, header.timestamp(), status);
    }

    /// @dev Ends the call with the return values of an update.
    function _update(uint256 kind, bytes calldata packed) private returns (QueryStatus, bool) {
        Header header = HeaderLibrary.read(packed, kind);
        bytes calldata key = header.key(packed);
        bytes32 keyHash = Calldata.hash(key);
        Slot storage slot = _slots[keyHash];
        DataPoint point = slot.point;
        uint256 timestamp = header.timestamp();
        if (!_isNew(point, key, timestamp)) _return(_storedStatus(point, key), false);
        (bytes32 value, QueryStatus status) = _derive(header, keyHash, packed);
        if (point.isEmpty()) emit KeyAdded(keyHash, key);
        _store(slot, keyHash, value, timestamp, status);
        _return(status, true);
    }

    /// @dev Derives what a query answers from the reports of a quorum, or reverts if the claim cannot be stored.
    function _derive(Header header, bytes32 keyHash, bytes calldata packed)
        private
        view
        returns (bytes32, QueryStatus)
    {
        if (header.kind() == HeaderLibrary.NO_DATA) {
            _checkNoData(header, keyHash, packed);
            return (0, QueryStatus.NOT_AVAILABLE);
        }
        bytes32 claimed = _checkValues(header, keyHash, packed);
        unchecked {
            uint256 absent = header.members() - ReportedValues.count();
            (KeyOutcome outcome, QueryStatus status) = _conclude(claimed, header.toleranceBps(), absent);
            if (!_isStored(outcome)) _refuse(outcome, claimed, absent);
            return (_ifAgreed(status, claimed), status);
        }
    }

    // Each of the next three functions reads an update from behind its key, or keys, to its end. It reverts unless the
    // signers and the absentees together are the whole committee and the signers are a quorum, or if the update is not
    // well-formed.

    /// @return claimed The value that the relayer claims.
    function _checkValues(Header header, bytes32 keyHash, bytes calldata packed)
        private
        view
        returns (bytes32 claimed)
    {
        (uint256 signers, uint256 reports, Cursor cursor) = _signers(header, HeaderLibrary.SIZE + header.size(), packed);
        (claimed, cursor) = cursor.claim(packed);
        ReportedValues.create(reports);
        _fill(REPORT_TYPEHASH, keyHash, uint256(QueryStatus.OK), header);
        Committee committee = CommitteeLibrary.create(header.toleranceBps(), header.members());
        cursor = SignedReports.takeValues(cursor, signers, committee, header.members(), claimed, packed);
        _requireCommittee(committee, header, cursor, packed);
    }

    function _checkNoData(Header header, bytes32 keyHash, bytes calldata packed) private view {
        (uint256 signers,, Cursor cursor) = _signers(header, HeaderLibrary.SIZE + header.size(), packed);
        ReportTemplate.allocate();
        _fill(REPORT_TYPEHASH, keyHash, uint256(QueryStatus.NOT_AVAILABLE), header);
        Committee committee = CommitteeLibrary.create(header.toleranceBps(), header.members());
        cursor = SignedReports.takeNoData(cursor, signers, committee, header.members());
        _requireCommittee(committee, header, cursor, packed);
    }

    /// @param keyHash keccak256 of the concatenated hashes of all keys.
    function _checkRows(Header header, bytes32 keyHash, bytes calldata packed) private view {
        (uint256 signers, uint256 reports, Cursor cursor) =
            _signers(header, HeaderLibrary.SIZE + 33 * header.size(), packed);
        ReportedValues.createRows(reports, header.size());
        _fill(BATCH_TYPEHASH, keyHash, 0, header);
        Committee committee = CommitteeLibrary.create(header.toleranceBps(), header.members());
        cursor = SignedReports.takeRows(cursor, signers, committee, header.members(), packed);
        _requireCommittee(committee, header, cursor, packed);
    }

    /// @dev Takes the bitmap of the signers, `offset` bytes behind the update's beginning. Reverts unless they are a
    /// quorum.
    function _signers(Header header, uint256 offset, bytes calldata packed)
        private
        pure
        returns (uint256 signers, uint256 reports, Cursor cursor)
    {
        (signers, cursor) = CursorLibrary.create(packed, offset).bitmap(header.members(), packed);
        reports = BitCount.count(signers);
        unchecked {
            // No bit is beyond the members.
            uint256 absentees = header.members() - reports;
            if (!Quorum.isReached(reports, absentees)) revert NoQuorum(reports, absentees);
        }
    }

    /// @dev The domain separator may take memory, so what has its place there is allocated before.
    function _fill(bytes32 typehash, bytes32 keyHash, uint256 outcome, Header header) private view {
        ReportTemplate.fill(typehash, _domainSeparator(), keyHash, outcome, header.timestamp());
    }

    /// @dev Reverts unless the update ends at the cursor, and the committee that it shows is the dataset's.
    function _requireCommittee(Committee committee, Header header, Cursor cursor, bytes calldata packed) private view {
        cursor.finish(packed);
        bytes32 shown = committee.hash(header.members());
        if (!_isCommittee(shown)) revert WrongCommittee(shown, committeeHash());
    }

    /// @dev Assumes `key` < the number of outcomes; the batch's loop has checked it.
    function _setOutcome(KeyOutcome[] memory outcomes, uint256 key, KeyOutcome outcome) private pure {
        assembly ("memory-safe") {
            mstore(add(add(outcomes, 0x20), shl(5, key)), outcome)
        }
    }

    /// @dev Ends the call. The array is encoded where it is, behind the word that tells its offset: the compiler would
    /// copy and check every outcome once more. The memory before the array is not needed any more.
    function _return(KeyOutcome[] memory outcomes) private pure {
        assembly ("memory-safe") {
            let answer := sub(outcomes, 0x20)
            mstore(answer, 0x20)
            return(answer, add(0x40, shl(5, mload(outcomes))))
        }
    }

    /// @dev Updates one key of a batch whose committee and round have been checked. The key ends up as `update` or
    /// `updateNotAvailable` would leave it, or stays as it was.
    /// @param pick The index of the row whose value is claimed.
    function _updateOne(Header header, bytes32 keyHash, uint256 pick) private returns (KeyOutcome) {
        Slot storage slot = _slots[keyHash];
        DataPoint point = slot.point;
        uint256 timestamp = header.timestamp();
        if (timestamp <= point.timestamp()) return KeyOutcome.STALE_ROUND;
        if (point.isEmpty()) return KeyOutcome.UNKNOWN_KEY;
        unchecked {
            uint256 absent = header.members() - ReportedValues.present();
            if (!Quorum.isReached(ReportedValues.present(), absent)) {
                uint256 noData = ReportedValues.count() - ReportedValues.present();
                if (!Quorum.isReached(noData, header.members() - noData)) return KeyOutcome.NO_QUORUM;
                _store(slot, keyHash, 0, timestamp, QueryStatus.NOT_AVAILABLE);
                return KeyOutcome.STORED;
            }
            if (pick >= ReportedValues.count()) return KeyOutcome.WRONG_CLAIM;
            bytes32 value = ReportedValues.word(pick);
            (KeyOutcome outcome, QueryStatus status) = _conclude(value, header.toleranceBps(), absent);
            if (!_isStored(outcome)) return outcome;
            _store(slot, keyHash, _ifAgreed(status, value), timestamp, status);
            return KeyOutcome.STORED;
        }
    }

    /// @dev Derives what to store from the reported values, by the rules of every dataset and of this kind.
    /// @param absent The number of committee members without a value here.
    /// @return STORED if something can be stored, otherwise VALUE_TOO_LARGE, UNDECIDED or WRONG_CLAIM.
    /// @return The status to store, if any.
    function _conclude(bytes32 value, uint256 toleranceBps, uint256 absent)
        private
        pure
        returns (KeyOutcome, QueryStatus)
    {
        if (uint256(value) > _maxValue()) return (KeyOutcome.VALUE_TOO_LARGE, QueryStatus.INVALID);
        return _judge(value, toleranceBps, absent);
    }

    /// @dev The compiler would first check that `outcome` is a valid enum value.
    function _isStored(KeyOutcome outcome) private pure returns (bool result) {
        assembly ("memory-safe") {
            // STORED is 0.
            result := iszero(outcome)
        }
    }

    /// @dev Returns the value if the status is OK, otherwise 0. The compiler would first check that `status` is a valid
    /// enum value.
    function _ifAgreed(QueryStatus status, bytes32 value) private pure returns (bytes32 output) {
        assembly ("memory-safe") {
            // OK is 1.
            output := mul(value, eq(status, 1))
        }
    }

    /// @dev Reverts with the error for an outcome of `_conclude` other than STORED.
    function _refuse(KeyOutcome outcome, bytes32 value, uint256 absent) private pure {
        if (outcome == KeyOutcome.VALUE_TOO_LARGE) revert ValueTooLarge(value, _maxValue());
        if (outcome == KeyOutcome.UNDECIDED) revert Undecided(ReportedValues.count(), absent);
        _revertWrongClaim(value);
    }

    function _store(Slot storage slot, bytes32 keyHash, bytes32 value, uint256 timestamp, QueryStatus status) private {
        slot.point = DataPointLibrary.pack(_save(slot, value), timestamp, status);
        UpdatedEvent.emitUpdated(keyHash, value, timestamp, status);
    }
}
