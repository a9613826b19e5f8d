// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {CommitteeDirectory} from "../src/CommitteeDirectory.sol";
import {DeployScript} from "./base/DeployScript.sol";

/// @notice Deploys the directory in which the data providers of one network announce their nodes: through the deterministic
/// deployment proxy, if the network has it, so that its address is the same on every such network.
contract DeployCommitteeDirectory is DeployScript {
    function run() external returns (CommitteeDirectory directory) {
        directory = CommitteeDirectory(_deployedAt(".committeeDirectory"));
        if (_isThere("committeeDirectory", address(directory))) return directory;
        bytes memory code = _compiled("CommitteeDirectory");
        directory = CommitteeDirectory(vm.computeCreate2Address(0, keccak256(code), CREATE2_FACTORY));
        if (address(directory).code.length == 0) directory = _deploy(code);
        _record("committeeDirectory", address(directory));
        _finish();
    }

    function _deploy(bytes memory code) private returns (CommitteeDirectory directory) {
        vm.broadcast();
        if (CREATE2_FACTORY.code.length == 0) return CommitteeDirectory(_create(code));
        (bool isDone, bytes memory deployed) = CREATE2_FACTORY.call(bytes.concat(bytes32(0), code));
        require(isDone, "The deterministic deployment proxy did not deploy the directory.");
        // forge-lint: disable-next-line(unsafe-typecast)
        return CommitteeDirectory(address(bytes20(deployed)));
    }
}
