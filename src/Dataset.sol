// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetGovernance} from "./DatasetGovernance.sol";
import {ReportDomain} from "./ReportDomain.sol";
import {Batch, DatasetSettings, IDataset, Report} from "./interfaces/IDataset.sol";
import {Oracle} from "./Oracle.sol";
import {Calldata} from "./libraries/Calldata.sol";
import {Logs} from "./libraries/Logs.sol";
import {Quorum} from "./libraries/Quorum.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Column} from "./types/Column.sol";
import {Committee, CommitteeLibrary} from "./types/Committee.sol";
import {DataPoint, DataPointLibrary} from "./types/DataPoint.sol";
import {KeyForm, matches} from "./types/KeyForm.sol";
import {BATCH_TYPEHASH, REPORT_TYPEHASH, ReportTemplate, ReportTemplateLibrary} from "./types/ReportTemplate.sol";
import {Words, WordsLibrary} from "./types/Words.sol";

/// @title Dataset
/// @notice Stores the data points of a committee of data providers and sells them one query at a time. Each kind of
/// dataset defines how the reported values are judged (`_judge`) and where they are stored (`_save`, `_load`).
abstract contract Dataset is DatasetGovernance, ReportDomain {
    using {matches} for KeyForm;

    /// @dev A row's `missing` bitmap has one bit for each key.
    uint256 private constant MAX_BATCH = 256;

    /// @dev Passed in place of the rows' hashes when the reports are about a single key.
    Words private constant NO_ROWS = Words.wrap(0);

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

    constructor(DatasetSettings memory settings) DatasetGovernance(settings) {
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
        uint256 price = queryPrice;
        if (msg.value != price) revert WrongPayment(msg.value, price);

        bytes32 keyHash = Calldata.hash(input);
        DataPoint point = _slots[keyHash].point;
        updatedAt = point.timestamp();
        // The form is checked only if nothing is stored, so that the common path does not pay for it.
        if (updatedAt == 0) return (0, 0, keyForm.matches(input) ? QueryStatus.NOT_AVAILABLE : QueryStatus.INVALID);
        status = point.status();
        output = _load(keyHash, point);
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
    ) external returns (QueryStatus status) {
        (bytes32 keyHash, Slot storage slot) = _openKey(key, timestamp);
        ReportTemplate template = ReportTemplateLibrary.create(
            REPORT_TYPEHASH, _domainSeparator(), keyHash, uint256(QueryStatus.OK), timestamp
        );
        _checkCommittee(template, NO_ROWS, toleranceBps, signers, reports, absentees);
        bytes32 output;
        (status, output) = _conclude(value, toleranceBps, Calldata.contents(reports), absentees.length);
        if (status == QueryStatus.INVALID) {
            if (uint256(value) > _maxValue()) revert ValueTooLarge(value, _maxValue());
            revert Undecided(reports.length, absentees.length);
        }
        _store(slot, keyHash, output, timestamp, status);
    }

    /// @inheritdoc IDataset
    function updateNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees,
        uint256 toleranceBps
    ) external {
        (bytes32 keyHash, Slot storage slot) = _openKey(key, timestamp);
        ReportTemplate template = ReportTemplateLibrary.create(
            REPORT_TYPEHASH, _domainSeparator(), keyHash, uint256(QueryStatus.NOT_AVAILABLE), timestamp
        );
        _checkCommittee(template, NO_ROWS, toleranceBps, signers, reports, absentees);
        _store(slot, keyHash, 0, timestamp, QueryStatus.NOT_AVAILABLE);
    }

    /// @inheritdoc IDataset
    function updateBatch(Batch calldata batch) external returns (bytes memory outcomes) {
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

        Column column = Calldata.firstColumn(values, keys, rows.length);
        outcomes = new bytes(keys);
        for (uint256 i = 0; i < keys; ++i) {
            if (missing != 0) column.setMissing(_missing(rows, i));
            KeyOutcome outcome =
                _updateOne(round, Calldata.item(keyHashes, i), column.word(Calldata.item(picks, i)), column);
            _setOutcome(outcomes, i, outcome);
            column.advance();
        }
    }

    /// @inheritdoc IDataset
    function announce(bytes calldata key) external {
        bytes32 keyHash = Calldata.hash(key);
        Slot storage slot = _slots[keyHash];
        if (!slot.point.isEmpty()) return;
        _addKey(keyHash, key);
        slot.point = DataPointLibrary.pack(0, 0, QueryStatus.NOT_AVAILABLE);
    }

    // ---------------------------------------------------------------- rules of each kind of dataset

    /// @notice Judges a claimed value against the reported ones. Reverts if the claim contradicts them.
    /// @param value The value that the relayer claims.
    /// @param values The values that a quorum of the committee signed.
    /// @param absent The number of committee members without a value here.
    /// @return OK or DISAGREEMENT; INVALID if the absent members could still decide the outcome.
    function _judge(bytes32 value, uint256 toleranceBps, Column values, uint256 absent)
        internal
        pure
        virtual
        returns (QueryStatus);

    /// @notice Returns the largest value that can be stored.
    function _maxValue() internal pure virtual returns (uint256);

    /// @notice Stores the value of a key, which is 0 unless its status is OK.
    /// @return packed The part of it that is stored in the data point itself.
    function _save(bytes32 keyHash, bytes32 value) internal virtual returns (uint256 packed);

    /// @notice Returns the value that `_save` stored.
    function _load(bytes32 keyHash, DataPoint point) internal view virtual returns (bytes32 value);

    // ---------------------------------------------------------------- rules of every update

    function _checkRound(uint256 timestamp) private view {
        if (timestamp > block.timestamp) revert FutureRound(timestamp, block.timestamp);
        unchecked {
            // The check above rules out an underflow.
            uint256 age = block.timestamp - timestamp;
            if (age > maxRoundAge) revert ExpiredRound(age, maxRoundAge);
        }
    }

    /// @dev Reverts unless the round can be stored for the key. Adds the key if it is new.
    function _openKey(bytes calldata key, uint256 timestamp) private returns (bytes32 keyHash, Slot storage slot) {
        keyHash = Calldata.hash(key);
        slot = _slots[keyHash];
        DataPoint point = slot.point;
        if (timestamp <= point.timestamp()) revert StaleRound(timestamp, point.timestamp());
        _checkRound(timestamp);
        if (point.isEmpty()) _addKey(keyHash, key);
    }

    function _addKey(bytes32 keyHash, bytes calldata key) private {
        if (!keyForm.matches(key)) revert InvalidKey(key);
        emit KeyAdded(keyHash, key);
    }

    /// @dev Reverts unless the signers and the absentees together are the whole committee and the signers are a quorum.
    /// @param rowHashes In a batch, the hash of each row's values; otherwise `NO_ROWS`.
    function _checkCommittee(
        ReportTemplate template,
        Words rowHashes,
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
            if (signers >> members != 0) revert WrongSigners(signers, reports.length, absentees.length);
            Committee committee = CommitteeLibrary.create(toleranceBps, members);
            uint256 reported = 0;
            for (uint256 place = 0; place < members; ++place) {
                if ((signers >> place) & 1 == 0) {
                    committee.seat(place, Calldata.item(absentees, place - reported));
                } else {
                    Report calldata report = Calldata.item(reports, reported);
                    bytes32 content = report.content;
                    if (Words.unwrap(rowHashes) != Words.unwrap(NO_ROWS)) {
                        template.setMissing(content);
                        content = rowHashes.get(reported);
                    }
                    committee.seat(place, Signatures.recover(template.digest(content), report.r, report.vs));
                    ++reported;
                }
            }
            if (reported != reports.length) revert WrongSigners(signers, reports.length, absentees.length);
            bytes32 shown = committee.hash(members);
            if (shown != committeeHash) revert WrongCommittee(shown, committeeHash);
        }
    }

    function _checkBatch(uint256 keys, uint256 rows, uint256 values, uint256 picks) private pure {
        if (keys > MAX_BATCH) revert TooManyKeys(keys, MAX_BATCH);
        if (values != rows * keys) revert WrongValueCount(values, rows * keys);
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
        Words rowHashes = WordsLibrary.create(rows.length);
        unchecked {
            uint256 keys = keyHashes.length;
            for (uint256 row = 0; row < rows.length; ++row) {
                rowHashes.set(row, Calldata.hash(values, row * keys, keys));
                missing |= uint256(Calldata.item(rows, row).content);
            }
        }
        ReportTemplate template = ReportTemplateLibrary.create(
            BATCH_TYPEHASH, _domainSeparator(), Calldata.hash(keyHashes, 0, keyHashes.length), 0, batch.timestamp
        );
        address[] calldata absentees = batch.absentees;
        _checkCommittee(template, rowHashes, batch.toleranceBps, batch.signers, rows, absentees);
        members = rows.length + absentees.length;
    }

    /// @return missing A bitmap of the rows that have no data for the key.
    function _missing(Report[] calldata rows, uint256 key) private pure returns (uint256 missing) {
        for (uint256 row = 0; row < rows.length; ++row) {
            missing |= ((uint256(Calldata.item(rows, row).content) >> key) & 1) << row;
        }
    }

    function _setOutcome(bytes memory outcomes, uint256 key, KeyOutcome outcome) private pure {
        assembly ("memory-safe") {
            mstore8(add(add(outcomes, 0x20), key), outcome)
        }
    }

    /// @dev Updates one key of a batch whose committee and round have been checked. The key ends up as `update` or
    /// `updateNotAvailable` would leave it, or stays as it was.
    function _updateOne(Round memory round, bytes32 keyHash, bytes32 value, Column values)
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
            (QueryStatus status, bytes32 output) = _conclude(value, round.toleranceBps, values, absent);
            if (status == QueryStatus.INVALID) {
                return uint256(value) > _maxValue() ? KeyOutcome.VALUE_TOO_LARGE : KeyOutcome.UNDECIDED;
            }
            _store(slot, keyHash, output, timestamp, status);
            return KeyOutcome.STORED;
        }
    }

    /// @dev Derives what to store from the reported values. Reverts if `value` contradicts them.
    /// @param absent The number of committee members without a value here.
    /// @return status INVALID if nothing can be stored: the value is too large, or the absent members could still
    /// decide.
    /// @return output 0 unless `status` is OK.
    function _conclude(bytes32 value, uint256 toleranceBps, Column values, uint256 absent)
        private
        pure
        returns (QueryStatus status, bytes32 output)
    {
        if (uint256(value) > _maxValue()) return (QueryStatus.INVALID, 0);
        status = _judge(value, toleranceBps, values, absent);
        output = status == QueryStatus.OK ? value : bytes32(0);
    }

    function _store(Slot storage slot, bytes32 keyHash, bytes32 value, uint256 timestamp, QueryStatus status) private {
        slot.point = DataPointLibrary.pack(_save(keyHash, value), timestamp, status);
        Logs.updated(keyHash, value, timestamp, status);
    }
}
