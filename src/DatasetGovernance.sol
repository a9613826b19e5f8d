// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {Oracle} from "./Oracle.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {CommitteeLibrary} from "./types/Committee.sol";

/// @title DatasetGovernance
/// @notice Lets the owner change the committee and the query price, and shares the income among the committee.
abstract contract DatasetGovernance is IDataset, Ownable2Step, ReentrancyGuardTransient {
    /// @dev The gas that a member's account may use when it receives its share.
    uint256 private constant SHARE_GAS = 50_000;

    /// @dev A call forwards at most 63/64 of the remaining gas and costs up to 36,600 itself. That maximum applies only
    /// to an account that does not exist yet, which needs none of the forwarded gas; hence 36,000 is enough.
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

    /// @dev Ignores the return data: a malicious account could return enough of it to exhaust the gas.
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
