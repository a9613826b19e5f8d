// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {Oracle} from "./Oracle.sol";
import {DatasetSettings, IDataset, Report} from "./interfaces/IDataset.sol";
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

        DataPoint point = _points[keccak256(input)];
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
        uint256 toleranceBps,
        Report[] calldata reports,
        address[] calldata absentees,
        bytes calldata places
    ) external returns (bytes32 value, QueryStatus status) {
        bytes32 keyHash = _checkRound(key, timestamp);
        _checkCommittee(keyHash, QueryStatus.OK, timestamp, toleranceBps, reports, absentees, places);
        (value, status) = _aggregate(reports, places.length, toleranceBps);
        _store(keyHash, value, timestamp, status);
    }

    /// @inheritdoc IDataset
    function updateNotAvailable(
        bytes calldata key,
        uint256 timestamp,
        uint256 toleranceBps,
        Report[] calldata reports,
        address[] calldata absentees,
        bytes calldata places
    ) external {
        bytes32 keyHash = _checkRound(key, timestamp);
        _checkCommittee(keyHash, QueryStatus.NOT_AVAILABLE, timestamp, toleranceBps, reports, absentees, places);
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

    /// @notice What the signed values come to.
    /// @param reports A quorum's reports, values ascending, each signer checked.
    /// @param members The size of the whole committee.
    /// @return value 0 unless `status` is OK.
    /// @return status OK or DISAGREEMENT.
    function _aggregate(Report[] calldata reports, uint256 members, uint256 toleranceBps)
        internal
        pure
        virtual
        returns (bytes32 value, QueryStatus status);

    /// @dev Reverts unless the round may be stored for the key. Adds a key that was never stored.
    function _checkRound(bytes calldata key, uint256 timestamp) private returns (bytes32 keyHash) {
        keyHash = keccak256(key);
        DataPoint point = _points[keyHash];
        if (timestamp <= point.timestamp()) revert StaleRound(timestamp, point.timestamp());
        if (timestamp > block.timestamp) revert FutureRound(timestamp, block.timestamp);
        if (block.timestamp - timestamp > maxRoundAge) revert ExpiredRound(timestamp, block.timestamp - maxRoundAge);
        if (point.isEmpty()) {
            if (!keyForm.matches(key)) revert InvalidKey(key);
            emit KeyAdded(keyHash, key);
        }
    }

    /// @dev Reverts unless the reports are in order, and they and the absentees are the whole committee, with a quorum.
    function _checkCommittee(
        bytes32 keyHash,
        QueryStatus outcome,
        uint256 timestamp,
        uint256 toleranceBps,
        Report[] calldata reports,
        address[] calldata absentees,
        bytes calldata places
    ) private view {
        uint256 members = places.length;
        if (reports.length + absentees.length != members) {
            revert WrongPlaceCount(members, reports.length + absentees.length);
        }
        if (!Quorum.isReached(reports.length, absentees.length)) revert NoQuorum(reports.length, absentees.length);

        Committee committee = CommitteeLibrary.create(toleranceBps, members);
        ReportTemplate template = ReportTemplateLibrary.create(_domainSeparatorV4(), keyHash, outcome, timestamp);
        bytes32 previous = 0;
        for (uint256 i = 0; i < reports.length; ++i) {
            Report calldata report = reports[i];
            if (report.value < previous) revert UnsortedReports(previous, report.value);
            previous = report.value;
            address signer = Signatures.recover(template.digest(report.value), report.r, report.vs);
            committee.seat(_place(places, i), signer);
        }
        for (uint256 i = 0; i < absentees.length; ++i) {
            committee.seat(_place(places, reports.length + i), absentees[i]);
        }
        bytes32 shown = committee.hash(members);
        if (shown != committeeHash) revert WrongCommittee(shown, committeeHash);
    }

    function _place(bytes calldata places, uint256 index) private pure returns (uint256 place) {
        place = uint8(places[index]);
        if (place >= places.length) revert PlaceOutOfBounds(place, places.length);
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
