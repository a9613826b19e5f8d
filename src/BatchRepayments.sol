// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {GovernanceAndIncome} from "./GovernanceAndIncome.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";

/// @title BatchRepayments
/// @notice Repays the senders of batches part of their gas at once, out of the new income of the committee.
abstract contract BatchRepayments is GovernanceAndIncome {
    /// @dev Less than a key costs in a committee of four or more, so that nobody gains by sending one. It is a
    /// constant, because a sender decides how much gas its transaction uses.
    uint256 private constant GAS_PER_KEY = 8_000;

    uint256 private immutable INTERVAL;

    uint256 private immutable FEE_CAP;

    constructor(DatasetSettings memory settings) {
        INTERVAL = settings.repaymentInterval;
        FEE_CAP = settings.repaymentFeeCap;
    }

    /// @inheritdoc IDataset
    /// @dev The name is chosen for its selector, which is greater than a query's: `costOfSubscription` says why.
    function repaymentRule() external view returns (uint256 interval, uint256 feeCap, uint256 gasPerKey) {
        return (INTERVAL, FEE_CAP, GAS_PER_KEY);
    }

    function _repays() internal view returns (bool) {
        return FEE_CAP != 0;
    }

    /// @dev Returns true if the sender is repaid for a key whose stored round is older than the new one by this many
    /// seconds.
    function _isDue(uint256 age) internal view returns (bool) {
        return age >= INTERVAL;
    }

    /// @dev Pays the caller for keys of a batch, as far as the new income suffices. Nothing is repaid for a round as
    /// old as the interval, or older: one transaction could otherwise store several rounds of a key, an interval apart,
    /// and only the first of them would cost as much gas as is repaid. The caller's account gets the stipend of 2,300
    /// gas, with which it can change nothing here; if it rejects the amount, the amount stays income. There is no
    /// event: its gas would put a batch of ten keys above the bound that `test/gas` asserts, and a trace shows the
    /// transfer.
    function _repay(uint256 keys, uint256 round) internal {
        unchecked {
            // The round is not later than the block, and no base fee comes near an overflow.
            if (block.timestamp - round >= INTERVAL) return;
            uint256 fee = block.basefee < FEE_CAP ? block.basefee : FEE_CAP;
            uint256 due = keys * GAS_PER_KEY * fee;
            uint256 income = _spendableIncome();
            _send(msg.sender, due < income ? due : income, 0);
        }
    }
}
