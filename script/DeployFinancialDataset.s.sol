// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../src/interfaces/IDataset.sol";
import {KeyForm} from "../src/types/KeyForm.sol";
import {DeployScript} from "./base/DeployScript.sol";

/// @notice Deploys the financial dataset of one network.
contract DeployFinancialDataset is DeployScript {
    function run() external checked returns (IDataset dataset) {
        dataset = _deployDataset("financial", IDataset.Judgement.MEDIAN, KeyForm.SPOT_PRICE);
        _finish();
    }
}
