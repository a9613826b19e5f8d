// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetGovernance} from "./DatasetGovernance.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {CommitteeLibrary} from "./types/Committee.sol";

/// @title BatchCredits
/// @notice Repays senders of batches a part of their gas, out of the income of the committee whose rows they sent.
abstract contract BatchCredits is DatasetGovernance {
    /// @dev Less than a key of any batch costs, so that nobody gains by sending one. It is a constant, because a sender
    /// decides how much gas its transaction uses.
    uint256 private constant GAS_PER_KEY = 8_000;

    uint256 private immutable INTERVAL;

    uint256 private immutable FEE_CAP;

    /// @dev By the bits of the committee's hash that a batch has read anyway: the whole hash would cost it a second slot.
    mapping(uint256 committee => mapping(address sender => uint256)) private _credits;

    constructor(DatasetSettings memory settings) {
        INTERVAL = settings.creditInterval;
        FEE_CAP = settings.creditFeeCap;
    }

    /// @inheritdoc IDataset
    function creditPolicy() external view returns (uint256 interval, uint256 feeCap, uint256 gasPerKey) {
        return (INTERVAL, FEE_CAP, GAS_PER_KEY);
    }

    /// @inheritdoc IDataset
    function creditsOf(address sender, bytes32 committee) external view returns (uint256) {
        return _credits[_head(committee)][sender];
    }

    /// @inheritdoc IDataset
    function shareIncomeAfterRepaying(uint256 toleranceBps, address[] calldata members, address[] calldata senders)
        external
        nonReentrant
    {
        bytes32 shown = CommitteeLibrary.hashOf(members, toleranceBps);
        uint256 income = _incomeToShare(shown);
        mapping(address sender => uint256) storage credits = _credits[_head(shown)];
        for (uint256 i = 0; i < senders.length; ++i) {
            uint256 credit = credits[senders[i]];
            uint256 amount = credit < income ? credit : income;
            if (amount == 0) continue;
            income -= amount;
            credits[senders[i]] = credit - amount;
            emit SenderRepaid(senders[i], amount);
            _payOut(shown, senders[i], amount);
        }
        _share(shown, income, members);
    }

    function _paysCredits() internal view returns (bool) {
        return FEE_CAP != 0;
    }

    /// @dev True if a key is credited when it is updated after this many seconds.
    function _isCredited(uint256 age) internal view returns (bool) {
        return age >= INTERVAL;
    }

    /// @dev Credits the caller for the keys of a batch that the current committee signed.
    function _credit(uint256 keys) internal {
        uint256 fee = block.basefee < FEE_CAP ? block.basefee : FEE_CAP;
        _credits[_currentHead()][msg.sender] += keys * GAS_PER_KEY * fee;
    }
}
