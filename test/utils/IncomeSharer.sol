// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";

/// @notice Shares the income of a dataset when it is paid.
contract IncomeSharer {
    IDataset private dataset;
    address[] private members;
    uint256 private toleranceBps;

    receive() external payable {
        dataset.shareIncome(members, toleranceBps);
    }

    function prepare(IDataset dataset_, address[] calldata members_, uint256 toleranceBps_) external {
        (dataset, members, toleranceBps) = (dataset_, members_, toleranceBps_);
    }
}
