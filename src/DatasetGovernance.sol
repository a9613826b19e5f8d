// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {Oracle} from "./Oracle.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {CommitteeLibrary} from "./types/Committee.sol";

/// @title DatasetGovernance
/// @notice What an owner may change of a dataset, and whom its income belongs to.
abstract contract DatasetGovernance is IDataset, Ownable2Step, ReentrancyGuardTransient {
    /// @dev What a member's account may use of the gas when it gets its share.
    uint256 private constant SHARE_GAS = 50_000;

    /// @dev Of the gas that is left a call passes on at most 63 of 64 parts, and itself it costs up to 36,600: that to an
    /// account that is not there yet, which needs none of the gas it gets.
    uint256 private constant MIN_GAS_PER_SHARE = SHARE_GAS + SHARE_GAS / 63 + 36_000;

    /// @inheritdoc IDataset
    uint256 public immutable priceCeiling;

    /// @inheritdoc IDataset
    bytes32 public committeeHash;

    /// @inheritdoc IDataset
    uint256 public committeeBlock;

    /// @inheritdoc Oracle
    uint256 public queryPrice;

    constructor(DatasetSettings memory settings) Ownable(settings.owner) {
        priceCeiling = settings.priceCeiling;
        _setCommittee(settings.members, settings.toleranceBps);
        _setQueryPrice(settings.queryPrice);
    }

    /// @inheritdoc IDataset
    function setCommittee(address[] calldata members, uint256 toleranceBps) external onlyOwner {
        _setCommittee(members, toleranceBps);
    }

    /// @inheritdoc IDataset
    function setQueryPrice(uint256 price) external onlyOwner {
        _setQueryPrice(price);
    }

    /// @inheritdoc IDataset
    function shareIncome(address[] calldata members, uint256 toleranceBps) external nonReentrant {
        bytes32 shown = CommitteeLibrary.hashOf(members, toleranceBps);
        if (shown != committeeHash) revert WrongCommittee(shown, committeeHash);

        uint256 share = address(this).balance / members.length;
        uint256 paid = 0;
        for (uint256 i = 0; i < members.length; ++i) {
            if (gasleft() < MIN_GAS_PER_SHARE) revert TooLittleGas(gasleft(), MIN_GAS_PER_SHARE);
            if (_send(members[i], share)) paid += share;
            else emit ShareRefused(members[i], share);
        }
        emit IncomeShared(share, paid);
    }

    /// @dev Copies nothing of what the member's account returns: it could be made to cost any gas.
    function _send(address member, uint256 amount) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(SHARE_GAS, member, amount, 0, 0, 0, 0)
        }
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
