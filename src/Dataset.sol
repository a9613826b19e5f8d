// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {Oracle} from "./Oracle.sol";
import {DatasetSettings, IDataset, Report} from "./interfaces/IDataset.sol";
import {Calldata} from "./libraries/Calldata.sol";
import {Quorum} from "./libraries/Quorum.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Committee, CommitteeLibrary} from "./types/Committee.sol";
import {DataPoint, DataPointLibrary} from "./types/DataPoint.sol";
import {KeyForm} from "./types/KeyForm.sol";
import {ReportTemplate, ReportTemplateLibrary} from "./types/ReportTemplate.sol";

/// @title Dataset
/// @notice A committee's data points, sold one query at a time. What a kind of dataset makes of the committee's values
/// is its own: `_aggregate`.
abstract contract Dataset is IDataset, Ownable2Step, EIP712 {
    /// @inheritdoc IDataset
    uint256 public immutable maxRoundAge;

    /// @inheritdoc IDataset
    uint256 public immutable priceCeiling;

    /// @inheritdoc IDataset
    KeyForm public immutable keyForm;

    /// @inheritdoc IDataset
    bytes32 public committeeHash;

    /// @inheritdoc IDataset
    uint256 public committeeBlock;

    /// @inheritdoc Oracle
    uint256 public queryPrice;

    /// @dev By keccak256 of the key. No view reads it: what a contract reads, it pays for.
    mapping(bytes32 keyHash => DataPoint) internal _points;

    constructor(DatasetSettings memory settings) Ownable(settings.owner) EIP712("Dataset Oracle", "1") {
        keyForm = settings.keyForm;
        maxRoundAge = settings.maxRoundAge;
        priceCeiling = settings.priceCeiling;
        _setCommittee(settings.members, settings.toleranceBps);
        _setQueryPrice(settings.queryPrice);
    }

    /// @inheritdoc Oracle
    function query(bytes calldata input)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        uint256 price = queryPrice;
        if (msg.value != price) revert WrongPayment(msg.value, price);

        DataPoint point = _points[Calldata.hash(input)];
        updatedAt = point.timestamp();
        // The form is checked where nothing is stored, so that the common path does not pay for it.
        if (updatedAt == 0) return (0, 0, keyForm.matches(input) ? QueryStatus.NOT_AVAILABLE : QueryStatus.INVALID);
        output = bytes32(point.value());
        status = point.status();
    }

    /// @inheritdoc IDataset
    function update(
        bytes calldata key,
        uint256 timestamp,
        bytes32 value,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) external returns (QueryStatus status) {
        bytes32 keyHash = _checkRound(key, timestamp);
        _checkCommittee(keyHash, QueryStatus.OK, timestamp, toleranceBps, signers, reports, absentees);
        status = _judge(value, toleranceBps, reports, absentees.length);
        _store(keyHash, status == QueryStatus.OK ? value : bytes32(0), timestamp, status);
    }

    /// @inheritdoc IDataset
    function updateNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 toleranceBps,
        uint256 signers,
        Report[] calldata reports,
        address[] calldata absentees
    ) external {
        bytes32 keyHash = _checkRound(key, timestamp);
        _checkCommittee(keyHash, QueryStatus.NOT_AVAILABLE, timestamp, toleranceBps, signers, reports, absentees);
        _store(keyHash, 0, timestamp, QueryStatus.NOT_AVAILABLE);
    }

    /// @inheritdoc IDataset
    function setCommittee(address[] calldata members, uint256 toleranceBps) external onlyOwner {
        _setCommittee(members, toleranceBps);
    }

    /// @inheritdoc IDataset
    function setQueryPrice(uint256 price) external onlyOwner {
        _setQueryPrice(price);
    }

    /// @notice Whether the committee agrees on `value`. Reverts unless `value` is what the reports come to.
    /// @param reports A quorum's reports, each signer checked.
    /// @param absent How many members of the committee have no report here.
    /// @return OK or DISAGREEMENT.
    function _judge(bytes32 value, uint256 toleranceBps, Report[] calldata reports, uint256 absent)
        internal
        pure
        virtual
        returns (QueryStatus);

    /// @dev Reverts unless the round may be stored for the key. Adds a key that was never stored.
    function _checkRound(bytes calldata key, uint256 timestamp) private returns (bytes32 keyHash) {
        keyHash = Calldata.hash(key);
        DataPoint point = _points[keyHash];
        if (timestamp <= point.timestamp()) revert StaleRound(timestamp, point.timestamp());
        if (timestamp > block.timestamp) revert FutureRound(timestamp, block.timestamp);
        unchecked {
            // The line above keeps the difference from going below zero.
            uint256 age = block.timestamp - timestamp;
            if (age > maxRoundAge) revert ExpiredRound(age, maxRoundAge);
        }
        if (point.isEmpty()) {
            if (!keyForm.matches(key)) revert InvalidKey(key);
            emit KeyAdded(keyHash, key);
        }
    }

    /// @dev Reverts unless the reports' signers and the absentees are the whole committee, with a quorum.
    function _checkCommittee(
        bytes32 keyHash,
        QueryStatus outcome,
        uint256 timestamp,
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
            ReportTemplate template = ReportTemplateLibrary.create(_domainSeparatorV4(), keyHash, outcome, timestamp);
            uint256 reported = 0;
            for (uint256 place = 0; place < members; ++place) {
                if ((signers >> place) & 1 == 1) {
                    if (reported == reports.length) revert WrongSigners(signers, reports.length, absentees.length);
                    Report calldata report = Calldata.item(reports, reported++);
                    address signer = Signatures.recover(template.digest(report.value), report.r, report.vs);
                    committee.seat(place, uint256(uint160(signer)));
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

    function _store(bytes32 keyHash, bytes32 value, uint256 timestamp, QueryStatus status) private {
        _points[keyHash] = DataPointLibrary.pack(uint256(value), timestamp, status);
        emit Updated(keyHash, value, timestamp, status);
    }

    function _setCommittee(address[] memory members, uint256 toleranceBps) private {
        committeeHash = CommitteeLibrary.checkedHash(members, toleranceBps);
        committeeBlock = block.number;
        emit CommitteeChanged(members, toleranceBps);
    }

    function _setQueryPrice(uint256 price) private {
        if (price > priceCeiling) revert PriceAboveCeiling(price, priceCeiling);
        queryPrice = price;
        emit QueryPriceChanged(price);
    }
}
