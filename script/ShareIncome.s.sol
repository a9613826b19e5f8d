// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Operation} from "./base/Operation.sol";

/// @notice Shares the income of DATASET among its committee. Anyone may run it.
contract ShareIncome is Operation {
    function run() external {
        (address[] memory members, uint256 toleranceBps) = _currentCommittee();
        _shareIncome("signer", msg.sender, members, toleranceBps);
        _finish();
    }
}
