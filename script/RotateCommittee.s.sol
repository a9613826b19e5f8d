// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {console} from "forge-std/Script.sol";
import {VmSafe} from "forge-std/Vm.sol";

import {IDataset} from "../src/interfaces/IDataset.sol";
import {CommitteeLibrary} from "../src/types/Committee.sol";
import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Replaces the committee and the tolerance of DATASET with those in its settings, and lists them in the
/// deployments file. The income is first shared among the old committee's members.
contract RotateCommittee is DatasetScript {
    function run() external checked {
        (address[] memory members, uint256 toleranceBps) = _committeeSetting(name);
        if (CommitteeLibrary.hashOf(members, toleranceBps) == dataset.committeeHash()) {
            console.log("Nothing to do: the committee and the tolerance are those of %s.", configPath);
            _listCommittee(members, toleranceBps);
            _finish();
            return;
        }
        _requireNotEjected(members);
        (address[] memory current, uint256 currentToleranceBps) = _currentCommittee();
        address owner = ownable.owner();
        _shareIncome("owner", owner, current, currentToleranceBps);

        console.log("Change the committee:");
        for (uint256 i = 0; i < current.length; ++i) {
            if (!_has(members, current[i])) console.log("  leaves %s", current[i]);
        }
        for (uint256 i = 0; i < members.length; ++i) {
            if (!_has(current, members[i])) console.log("  joins  %s", members[i]);
        }
        console.log("  members %s -> %s", current.length, members.length);
        console.log("  tolerance %s -> %s basis points", currentToleranceBps, toleranceBps);
        _callAs("owner", owner, abi.encodeCall(IDataset.setCommittee, (members, toleranceBps)));
        // A contract makes the call later, or never: the next run sees it.
        if (msg.sender == owner) _listCommittee(members, toleranceBps);
        _finish();
    }

    /// @dev Has the deployments file list a committee, from which operators have it where the RPC has no logs of it.
    function _listCommittee(address[] memory members, uint256 toleranceBps) private {
        string[] memory texts = new string[](members.length);
        for (uint256 i = 0; i < members.length; ++i) {
            texts[i] = vm.toString(members[i]);
        }
        string memory path = string.concat(".datasets.", name);
        _list(string.concat(path, ".members"), _jsonOf(texts));
        _list(string.concat(path, ".toleranceBps"), vm.toString(toleranceBps));
    }

    /// @dev Settings from before an ejection still contain the member, and would seat it again.
    function _requireNotEjected(address[] memory members) private {
        (bool isFound, VmSafe.EthGetLogs[] memory logs) = _logsOfCommitteeBlock(IDataset.MemberEjected.selector);
        if (!isFound) {
            _warn("the RPC has no old logs, so members that were ejected are not recognized.");
        }
        for (uint256 i = 0; i < logs.length; ++i) {
            address ejected = address(uint160(uint256(logs[i].topics[1])));
            require(
                !_has(members, ejected),
                string.concat(
                    vm.toString(ejected),
                    " was ejected because it signed two conflicting statements. Remove it from ",
                    name,
                    ".members in ",
                    configPath,
                    "."
                )
            );
        }
    }

    function _has(address[] memory members, address member) private pure returns (bool) {
        for (uint256 i = 0; i < members.length; ++i) {
            if (members[i] == member) return true;
        }
        return false;
    }
}
