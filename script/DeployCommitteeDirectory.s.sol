// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {CommitteeDirectory} from "../src/CommitteeDirectory.sol";
import {Deployment} from "./base/Deployment.sol";

/// @notice Deploys the directory in which the data providers of one network announce their nodes.
contract DeployCommitteeDirectory is Deployment {
    function run() external returns (CommitteeDirectory directory) {
        directory = CommitteeDirectory(_deployedAt(".committeeDirectory"));
        if (_isThere("committeeDirectory", address(directory))) return directory;
        bytes memory code = _compiled("CommitteeDirectory");
        vm.broadcast();
        directory = CommitteeDirectory(_create(code));
        _record("committeeDirectory", address(directory));
        _finish();
    }
}
