// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {ICommitteeDirectory} from "../src/interfaces/ICommitteeDirectory.sol";
import {DeployScript} from "./base/DeployScript.sol";

/// @notice Deploys the directory in which the data providers of one network announce their URLs: through the
/// deterministic deployment proxy, if the network has it, so that its address is the same on every such network.
contract DeployCommitteeDirectory is DeployScript {
    function run() external checked returns (ICommitteeDirectory directory) {
        directory = ICommitteeDirectory(_deployAtFixedAddress("committeeDirectory", "CommitteeDirectory"));
        _finish();
    }
}
