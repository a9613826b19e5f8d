// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Accusations} from "./Accusations.sol";
import {Batch, DatasetSettings, IDataset, Report} from "./interfaces/IDataset.sol";
import {Oracle} from "./Oracle.sol";
import {Subscriptions} from "./Subscriptions.sol";
import {BitCount} from "./libraries/BitCount.sol";
import {Calldata} from "./libraries/Calldata.sol";
import {UpdatedEvent} from "./libraries/UpdatedEvent.sol";
import {Quorum} from "./libraries/Quorum.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {ReportedValues} from "./types/ReportedValues.sol";
import {Committee, CommitteeLibrary} from "./types/Committee.sol";
import {DataPoint, DataPointLibrary} from "./types/DataPoint.sol";
import {KeyForm, KeyFormLibrary} from "./types/KeyForm.sol";
import {BATCH_TYPEHASH, REPORT_TYPEHASH, ReportTemplate, ReportTemplateLibrary} from "./types/ReportTemplate.sol";

/// @title Dataset
/// @notice Stores the data points of a committee of data providers and sells reads of them. Each kind of dataset
/// defines how the reported values are judged (`_judge`) and where the result is stored (`_save`, `_load`).
abstract contract Dataset is Subscriptions, Accusations {
    using KeyFormLibrary for KeyForm;

    /// @inheritdoc IDataset
    uint256 public immutable maxRoundAge;

    /// @inheritdoc IDataset
    KeyForm public immutable keyForm;

    /// @dev The parameters that all keys of a batch share.
    struct Round {
        uint256 timestamp;
        uint256 toleranceBps;
        uint256 members;
    }

    /// @dev Wraps a data point so that a storage pointer to it can be passed around: its slot is hashed only once.
    struct Slot {
        DataPoint point;
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
    function verify(
        bytes calldata key,
        uint256 timestamp,
        bytes32 value,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external payable returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        _requireVerificationPrice();
        _checkRound(timestamp);
        _checkReports(QueryStatus.OK, Calldata.hash(key), timestamp, toleranceBps, signers, reports, absentees);
        (output, status) = _derive(value, toleranceBps, reports, absentees.length);
        updatedAt = timestamp;
        _return(output, updatedAt, status);
    }

    /// @inheritdoc IDataset
    function verifyNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external payable returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        _requireVerificationPrice();
        _checkRound(timestamp);
        _checkReports(
            QueryStatus.NOT_AVAILABLE, Calldata.hash(key), timestamp, toleranceBps, signers, reports, absentees
        );
        return (0, timestamp, QueryStatus.NOT_AVAILABLE);
    }

    // ---------------------------------------------------------------- updating

    /// @inheritdoc IDataset
    function update(
        bytes calldata key,
        uint256 timestamp,
        bytes32 value,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external returns (QueryStatus status, bool isNew) {
        bytes32 keyHash = Calldata.hash(key);
        Slot storage slot = _slots[keyHash];
        DataPoint point = slot.point;
        isNew = _isNew(point, key, timestamp);
        if (isNew) {
            _checkReports(QueryStatus.OK, keyHash, timestamp, toleranceBps, signers, reports, absentees);
            (value, status) = _derive(value, toleranceBps, reports, absentees.length);
            if (point.isEmpty()) emit KeyAdded(keyHash, key);
            _store(slot, keyHash, value, timestamp, status);
        } else {
            status = _storedStatus(point, key);
        }
        _return(status, isNew);
    }

    /// @inheritdoc IDataset
    function updateNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external returns (QueryStatus status, bool isNew) {
        bytes32 keyHash = Calldata.hash(key);
        Slot storage slot = _slots[keyHash];
        DataPoint point = slot.point;
        isNew = _isNew(point, key, timestamp);
        if (isNew) {
            _checkReports(QueryStatus.NOT_AVAILABLE, keyHash, timestamp, toleranceBps, signers, reports, absentees);
            status = QueryStatus.NOT_AVAILABLE;
            if (point.isEmpty()) emit KeyAdded(keyHash, key);
            _store(slot, keyHash, 0, timestamp, status);
        } else {
            status = _storedStatus(point, key);
        }
        _return(status, isNew);
    }

    /// @inheritdoc IDataset
    function updateBatch(Batch calldata batch) external returns (KeyOutcome[] memory outcomes) {
        bytes32[] calldata keyHashes = batch.keyHashes;
        bytes32[] calldata values = batch.values;
        bytes calldata picks = batch.picks;
        Report[] calldata rows = batch.rows;
        uint256 keys = keyHashes.length;
        _checkBatch(keys, rows.length, values.length, picks.length);
        Round memory round = Round(batch.timestamp, batch.toleranceBps, 0);
        _checkRound(round.timestamp);
        uint256 missing;
        (round.members, missing) = _checkRows(batch, keyHashes, values, rows);

        ReportedValues reported = Calldata.valuesOfFirstKey(values, keys, rows.length);
        outcomes = new KeyOutcome[](keys);
        for (uint256 i = 0; i < keys; ++i) {
            if (missing != 0) reported.setMissing(_missing(rows, i));
            KeyOutcome outcome =
                _updateOne(round, Calldata.item(keyHashes, i), reported.word(Calldata.item(picks, i)), reported);
            _setOutcome(outcomes, i, outcome);
            reported.advance();
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

    /// @notice Judges a claimed value against the reported ones.
    /// @param value The value that the relayer claims.
    /// @param values The values that a quorum of the committee signed.
    /// @param absent The number of committee members without a value here.
    /// @return outcome STORED if something can be stored, otherwise UNDECIDED or WRONG_CLAIM.
    /// @return status OK if `value` is to be stored, DISAGREEMENT if 0 is; meaningless unless `outcome` is STORED.
    function _judge(bytes32 value, uint256 toleranceBps, ReportedValues values, uint256 absent)
        internal
        pure
        virtual
        returns (KeyOutcome outcome, QueryStatus status);

    /// @notice Reverts with the error that says why a claim is wrong. Called only if `_judge` has found that it is.
    function _revertWrongClaim(bytes32 value, ReportedValues values) internal pure virtual;

    /// @notice Returns the largest value that can be stored.
    function _maxValue() internal pure virtual returns (uint256);

    /// @notice Stores the value of a key, which is 0 unless its status is OK.
    /// @return packed The part of the value that is stored in the data point itself.
    function _save(bytes32 keyHash, bytes32 value) internal virtual returns (uint256 packed);

    /// @notice Returns the value that `_save` stored.
    function _load(bytes32 keyHash, DataPoint point) internal view virtual returns (bytes32 value);

    // ---------------------------------------------------------------- rules of every reading

    /// @dev Ends the call with the answer to a query of the key.
    function _answer(bytes calldata key) private view returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        bytes32 keyHash = Calldata.hash(key);
        DataPoint point = _slots[keyHash].point;
        updatedAt = point.timestamp();
        if (updatedAt == 0) _return(0, 0, _statusWithoutData(key));
        status = point.status();
        output = _load(keyHash, point);
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

    /// @dev Reverts unless a quorum of the committee signed reports of this outcome on the key.
    function _checkReports(
        QueryStatus outcome,
        bytes32 keyHash,
        uint256 timestamp,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) private view {
        _checkCommittee(
            REPORT_TYPEHASH,
            keyHash,
            uint256(outcome),
            timestamp,
            _noValues(),
            toleranceBps,
            signers,
            reports,
            absentees
        );
    }

    /// @dev Derives what a query answers from the values of a quorum's reports, or reverts if the claim cannot be
    /// stored.
    /// @param absent The number of committee members without a value here.
    function _derive(bytes32 value, uint256 toleranceBps, Report[] calldata reports, uint256 absent)
        private
        pure
        returns (bytes32, QueryStatus)
    {
        ReportedValues values = Calldata.reportedValues(reports);
        (KeyOutcome outcome, QueryStatus status) = _conclude(value, toleranceBps, values, absent);
        if (!_isStored(outcome)) _refuse(outcome, value, values, absent);
        return (_ifAgreed(status, value), status);
    }

    /// @dev Reverts unless the signers and the absentees together are the whole committee and the signers are a quorum.
    /// Every caller passes `typehash` as a constant, so that the compiler makes a specialized copy for each.
    /// @param typehash BATCH_TYPEHASH if each report is a row of a batch, otherwise REPORT_TYPEHASH.
    /// @param keyHash keccak256 of the key; in a batch, of the concatenated hashes of all keys.
    /// @param outcome The `QueryStatus` that all reports have; ignored in a batch.
    /// @param values All values of the batch, row by row; ignored unless `typehash` is BATCH_TYPEHASH.
    function _checkCommittee(
        bytes32 typehash,
        bytes32 keyHash,
        uint256 outcome,
        uint256 timestamp,
        bytes32[] calldata values,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) private view {
        if (!Quorum.isReached(reports.length, absentees.length)) {
            revert NoQuorum(reports.length, absentees.length);
        }

        // Every number below is bounded by the lengths of two calldata arrays, so nothing overflows.
        unchecked {
            uint256 members = reports.length + absentees.length;
            // With as many bits as reports, none of them beyond the members, the loop reads each item of both arrays
            // exactly once.
            if (BitCount.count(signers) != reports.length || signers >> members != 0) {
                revert WrongSigners(signers, reports.length, absentees.length);
            }
            ReportTemplate template =
                ReportTemplateLibrary.create(typehash, _domainSeparator(), keyHash, outcome, timestamp);
            Committee committee = CommitteeLibrary.create(toleranceBps, members);
            // The compiler checks even here that it does not divide by zero, which only batches have to pay for.
            uint256 keys = typehash == BATCH_TYPEHASH ? values.length / reports.length : 0;
            uint256 reported = 0;
            for (uint256 place = 0; place < members; ++place) {
                if ((signers >> place) & 1 == 0) {
                    committee.setMember(place, Calldata.item(absentees, place - reported));
                } else {
                    Report calldata report = Calldata.item(reports, reported);
                    bytes32 content = report.content;
                    if (typehash == BATCH_TYPEHASH) {
                        template.setMissing(content);
                        content = Calldata.hash(values, reported * keys, keys);
                    }
                    Signatures.recoverTo(committee.seat(place), template.digest(content), report.r, report.vs);
                    ++reported;
                }
            }
            bytes32 shown = committee.hash(members);
            if (!_isCommittee(shown)) revert WrongCommittee(shown, committeeHash());
        }
    }

    /// @dev Passed in place of a batch's values when the reports are about a single key.
    function _noValues() private pure returns (bytes32[] calldata values) {
        assembly ("memory-safe") {
            values.offset := 0
            values.length := 0
        }
    }

    function _checkBatch(uint256 keys, uint256 rows, uint256 values, uint256 picks) private pure {
        if (keys > MAX_BATCH) revert TooManyKeys(keys, MAX_BATCH);
        unchecked {
            // No array that fits in calldata is long enough to overflow this.
            if (values != rows * keys) revert WrongValueCount(values, rows * keys);
        }
        if (picks != keys) revert WrongPickCount(picks, keys);
    }

    /// @dev Reverts unless a quorum of the committee signed the rows.
    /// @return members The number of committee members.
    /// @return missing A bitmap of the keys for which at least one row has no data.
    function _checkRows(
        Batch calldata batch,
        bytes32[] calldata keyHashes,
        bytes32[] calldata values,
        Report[] calldata rows
    ) private view returns (uint256 members, uint256 missing) {
        for (uint256 row = 0; row < rows.length; ++row) {
            missing |= uint256(Calldata.item(rows, row).content);
        }
        bytes32 keyHash = Calldata.hash(keyHashes, 0, keyHashes.length);
        address[] calldata absentees = batch.absentees;
        _checkCommittee(
            BATCH_TYPEHASH, keyHash, 0, batch.timestamp, values, batch.toleranceBps, batch.signers, rows, absentees
        );
        members = rows.length + absentees.length;
    }

    /// @return missing A bitmap of the rows that have no data for the key.
    function _missing(Report[] calldata rows, uint256 key) private pure returns (uint256 missing) {
        for (uint256 row = 0; row < rows.length; ++row) {
            missing |= ((uint256(Calldata.item(rows, row).content) >> key) & 1) << row;
        }
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
    function _updateOne(Round memory round, bytes32 keyHash, bytes32 value, ReportedValues values)
        private
        returns (KeyOutcome)
    {
        Slot storage slot = _slots[keyHash];
        DataPoint point = slot.point;
        uint256 timestamp = round.timestamp;
        if (timestamp <= point.timestamp()) return KeyOutcome.STALE_ROUND;
        if (point.isEmpty()) return KeyOutcome.UNKNOWN_KEY;
        unchecked {
            uint256 absent = round.members - values.present();
            if (!Quorum.isReached(values.present(), absent)) {
                uint256 noData = values.count() - values.present();
                if (!Quorum.isReached(noData, round.members - noData)) return KeyOutcome.NO_QUORUM;
                _store(slot, keyHash, 0, timestamp, QueryStatus.NOT_AVAILABLE);
                return KeyOutcome.STORED;
            }
            (KeyOutcome outcome, QueryStatus status) = _conclude(value, round.toleranceBps, values, absent);
            if (!_isStored(outcome)) return outcome;
            _store(slot, keyHash, _ifAgreed(status, value), timestamp, status);
            return KeyOutcome.STORED;
        }
    }

    /// @dev Derives what to store from the reported values, by the rules of every dataset and of this kind.
    /// @param absent The number of committee members without a value here.
    /// @return STORED if something can be stored, otherwise VALUE_TOO_LARGE, UNDECIDED or WRONG_CLAIM.
    /// @return The status to store, if any.
    function _conclude(bytes32 value, uint256 toleranceBps, ReportedValues values, uint256 absent)
        private
        pure
        returns (KeyOutcome, QueryStatus)
    {
        if (uint256(value) > _maxValue()) return (KeyOutcome.VALUE_TOO_LARGE, QueryStatus.INVALID);
        return _judge(value, toleranceBps, values, absent);
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
    function _refuse(KeyOutcome outcome, bytes32 value, ReportedValues values, uint256 absent) private pure {
        if (outcome == KeyOutcome.VALUE_TOO_LARGE) revert ValueTooLarge(value, _maxValue());
        if (outcome == KeyOutcome.UNDECIDED) revert Undecided(values.count(), absent);
        _revertWrongClaim(value, values);
    }

    function _store(Slot storage slot, bytes32 keyHash, bytes32 value, uint256 timestamp, QueryStatus status) private {
        slot.point = DataPointLibrary.pack(_save(keyHash, value), timestamp, status);
        UpdatedEvent.emitUpdated(keyHash, value, timestamp, status);
    }
}
