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
import {KeyForm} from "./types/KeyForm.sol";
import {BATCH_TYPEHASH, REPORT_TYPEHASH, ReportTemplate, ReportTemplateLibrary} from "./types/ReportTemplate.sol";
import {Words, WordsLibrary} from "./types/Words.sol";

/// @title Dataset
/// @notice A committee's data points, sold one query at a time. A kind of dataset says what the committee's values come
/// to (`_judge`) and where it keeps them (`_save`, `_load`).
abstract contract Dataset is DatasetGovernance, ReportDomain {
    /// @dev One bit for each key says which of them a row has no data for.
    uint256 private constant MAX_BATCH = 256;

    /// @dev Stands in for the rows' hashes where there are no rows.
    Words private constant NO_ROWS = Words.wrap(0);

    /// @inheritdoc IDataset
    uint256 public immutable maxRoundAge;

    /// @inheritdoc IDataset
    KeyForm public immutable keyForm;

    /// @dev What the keys of a batch share.
    struct Round {
        uint256 timestamp;
        uint256 toleranceBps;
        uint256 members;
    }

    /// @dev A storage pointer to a data point, so that its place is computed once.
    struct Slot {
        DataPoint point;
    }

    /// @dev By keccak256 of the key. No view reads it: what a contract reads, it pays for.
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
        // The form is checked where nothing is stored, so that the common path does not pay for it.
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

    // ---------------------------------------------------------------- what a kind of dataset decides

    /// @notice Whether the committee agrees on `value`. Reverts unless `value` is what the values come to.
    /// @param values What a quorum of the committee signed.
    /// @param absent How many members of the committee have none here.
    /// @return OK, DISAGREEMENT, or INVALID if the absent members could still decide.
    function _judge(bytes32 value, uint256 toleranceBps, Column values, uint256 absent)
        internal
        pure
        virtual
        returns (QueryStatus);

    /// @notice The largest value that can be stored.
    function _maxValue() internal pure virtual returns (uint256);

    /// @notice Keeps the value of a key; 0 unless its status is OK.
    /// @return packed What of it goes into the data point.
    function _save(bytes32 keyHash, bytes32 value) internal virtual returns (uint256 packed);

    /// @notice The value that `_save` keeps.
    function _load(bytes32 keyHash, DataPoint point) internal view virtual returns (bytes32 value);

    // ---------------------------------------------------------------- the rules that every update shares

    function _checkRound(uint256 timestamp) private view {
        if (timestamp > block.timestamp) revert FutureRound(timestamp, block.timestamp);
        unchecked {
            // The line above keeps the difference from going below zero.
            uint256 age = block.timestamp - timestamp;
            if (age > maxRoundAge) revert ExpiredRound(age, maxRoundAge);
        }
    }

    /// @dev Reverts unless the round may be stored for the key. Adds a key that was never stored.
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

    /// @dev Reverts unless the reports' signers and the absentees are the whole committee, with a quorum.
    /// @param rowHashes In a batch, the hash of each row's values; else `NO_ROWS`.
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

        // The lengths of two arrays in calldata bound every number below.
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

    /// @dev Reverts unless the rows are signed by a quorum of the committee.
    /// @return members How many members the committee has.
    /// @return missing One bit for each key that any row has no data for.
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

    /// @return missing One bit for each row that has no data for the key.
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

    /// @dev One key of a batch, of which the committee and the round are checked already: as `update` or
    /// `updateNotAvailable` would leave it, or as it was.
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

    /// @dev What the committee's values come to, if that is `value`.
    /// @param absent How many members of the committee have no value here.
    /// @return status INVALID if nothing can be stored: the value does not fit, or the absent members could still decide.
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
