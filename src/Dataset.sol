// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetGovernance} from "./DatasetGovernance.sol";
import {ReportDomain} from "./ReportDomain.sol";
import {Batch, DatasetSettings, IDataset, Report} from "./interfaces/IDataset.sol";
import {Oracle} from "./Oracle.sol";
import {Calldata} from "./libraries/Calldata.sol";
import {Quorum} from "./libraries/Quorum.sol";
import {Signatures} from "./libraries/Signatures.sol";
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
        Words values = _checkCommittee(template, NO_ROWS, toleranceBps, signers, reports, absentees);
        if (uint256(value) > _maxValue()) revert ValueTooLarge(value, _maxValue());
        status = _judge(value, toleranceBps, values, reports.length, absentees.length);
        if (status == QueryStatus.INVALID) revert Undecided(reports.length, absentees.length);
        if (status != QueryStatus.OK) value = 0;
        _store(slot, keyHash, value, timestamp, status);
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
    function updateBatch(Batch calldata batch) external returns (KeyOutcome[] memory outcomes) {
        bytes32[] calldata keyHashes = batch.keyHashes;
        bytes32[] calldata values = batch.values;
        bytes calldata picks = batch.picks;
        uint256 rows = batch.rows.length;
        _checkBatch(keyHashes.length, rows, values.length, picks.length);
        _checkRound(batch.timestamp);
        Words missing = _checkRows(batch);

        outcomes = new KeyOutcome[](keyHashes.length);
        Words column = WordsLibrary.create(rows);
        for (uint256 i = 0; i < keyHashes.length; ++i) {
            uint256 present = _collect(values, keyHashes.length, i, missing, rows, column);
            bytes32 pick = Calldata.item(values, Calldata.item(picks, i) * keyHashes.length + i);
            outcomes[i] = _updateOne(
                keyHashes[i],
                batch.timestamp,
                pick,
                batch.toleranceBps,
                column,
                present,
                rows,
                rows + batch.absentees.length
            );
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
    /// @param present How many values there are.
    /// @param absent How many members of the committee have none here.
    /// @return OK, DISAGREEMENT, or INVALID if the absent members could still decide.
    function _judge(bytes32 value, uint256 toleranceBps, Words values, uint256 present, uint256 absent)
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
    /// @return contents What the reports hold beside their signatures, in their order.
    function _checkCommittee(
        ReportTemplate template,
        Words rowHashes,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) private view returns (Words contents) {
        if (!Quorum.isReached(reports.length, absentees.length)) {
            revert NoQuorum(reports.length, absentees.length);
        }

        // The lengths of two arrays in calldata bound every number below.
        unchecked {
            uint256 members = reports.length + absentees.length;
            if (signers >> members != 0) revert WrongSigners(signers, reports.length, absentees.length);
            contents = WordsLibrary.create(reports.length);
            Committee committee = CommitteeLibrary.create(toleranceBps, members);
            uint256 reported = 0;
            for (uint256 place = 0; place < members; ++place) {
                if ((signers >> place) & 1 == 1) {
                    if (reported == reports.length) revert WrongSigners(signers, reports.length, absentees.length);
                    Report calldata report = Calldata.item(reports, reported);
                    bytes32 content = report.content;
                    contents.set(reported, content);
                    bytes32 digest = Words.unwrap(rowHashes) == Words.unwrap(NO_ROWS)
                        ? template.digest(content)
                        : template.digest(uint256(content), rowHashes.get(reported));
                    committee.seat(place, uint256(uint160(Signatures.recover(digest, report.r, report.vs))));
                    ++reported;
                } else {
                    uint256 absent = place - reported;
                    if (absent == absentees.length) revert WrongSigners(signers, reports.length, absentees.length);
                    committee.seat(place, Calldata.item(absentees, absent));
                }
            }
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
    /// @return missing For each row, one bit for each key that it has no data for.
    function _checkRows(Batch calldata batch) private view returns (Words missing) {
        bytes32[] calldata values = batch.values;
        uint256 keys = batch.keyHashes.length;
        uint256 rows = batch.rows.length;
        Words rowHashes = WordsLibrary.create(rows);
        for (uint256 row = 0; row < rows; ++row) {
            rowHashes.set(row, Calldata.hash(values[row * keys:(row + 1) * keys]));
        }
        ReportTemplate template = ReportTemplateLibrary.create(
            BATCH_TYPEHASH, _domainSeparator(), Calldata.hash(batch.keyHashes), 0, batch.timestamp
        );
        return _checkCommittee(template, rowHashes, batch.toleranceBps, batch.signers, batch.rows, batch.absentees);
    }

    /// @dev Collects what the rows say of one key.
    /// @return present How many rows have a value for it.
    function _collect(bytes32[] calldata values, uint256 keys, uint256 key, Words missing, uint256 rows, Words column)
        private
        pure
        returns (uint256 present)
    {
        unchecked {
            uint256 place = key;
            for (uint256 row = 0; row < rows; ++row) {
                if ((uint256(missing.get(row)) >> key) & 1 == 0) column.set(present++, Calldata.item(values, place));
                place += keys;
            }
        }
    }

    /// @dev One key of a batch, of which the committee and the round are checked already: as `update` or
    /// `updateNotAvailable` would leave it, or as it was.
    function _updateOne(
        bytes32 keyHash,
        uint256 timestamp,
        bytes32 value,
        uint256 toleranceBps,
        Words values,
        uint256 present,
        uint256 rows,
        uint256 members
    ) private returns (KeyOutcome) {
        Slot storage slot = _slots[keyHash];
        DataPoint point = slot.point;
        if (point.isEmpty()) return KeyOutcome.UNKNOWN_KEY;
        if (timestamp <= point.timestamp()) return KeyOutcome.STALE_ROUND;
        unchecked {
            if (!Quorum.isReached(present, members - present)) {
                uint256 noData = rows - present;
                if (!Quorum.isReached(noData, members - noData)) return KeyOutcome.NO_QUORUM;
                _store(slot, keyHash, 0, timestamp, QueryStatus.NOT_AVAILABLE);
                return KeyOutcome.STORED;
            }
            if (uint256(value) > _maxValue()) return KeyOutcome.VALUE_TOO_LARGE;
            QueryStatus status = _judge(value, toleranceBps, values, present, members - present);
            if (status == QueryStatus.INVALID) return KeyOutcome.UNDECIDED;
            _store(slot, keyHash, status == QueryStatus.OK ? value : bytes32(0), timestamp, status);
            return KeyOutcome.STORED;
        }
    }

    function _store(Slot storage slot, bytes32 keyHash, bytes32 value, uint256 timestamp, QueryStatus status) private {
        slot.point = DataPointLibrary.pack(_save(keyHash, value), timestamp, status);
        emit Updated(keyHash, value, timestamp, status);
    }
}
