// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../src/interfaces/IDataset.sol";
import {IWebOracleRegistry} from "../src/interfaces/IWebOracleRegistry.sol";
import {KeyForm} from "../src/types/KeyForm.sol";
import {DeployScript} from "./base/DeployScript.sol";

/// @notice Deploys the Web Oracle of one network: a dataset of numbers, one of any 32 bytes, and the registry of the
/// request specs that their keys name.
contract DeployWebOracle is DeployScript {
    function run() external checked returns (IDataset numbers, IDataset words, IWebOracleRegistry registry) {
        numbers = _deployDataset("webOracleNumber", IDataset.Judgement.MEDIAN, KeyForm.WEB_ORACLE);
        words = _deployDataset("webOracleBytes", IDataset.Judgement.MAJORITY, KeyForm.WEB_ORACLE);
        registry = IWebOracleRegistry(_deployAtFixedAddress("webOracleRegistry", "WebOracleRegistry"));
        _finish();
    }
}
