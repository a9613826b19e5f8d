// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {console} from "forge-std/Script.sol";
import {VmSafe} from "forge-std/Vm.sol";

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {CommitteeLibrary} from "../../src/types/Committee.sol";
import {NetworkScript} from "./NetworkScript.sol";

/// @notice Finds the deployed dataset that DATASET names, and makes calls to it: mostly those that make it match its
/// settings.
abstract contract DatasetScript is NetworkScript {
    string internal name;
    IDataset internal dataset;
    /// @dev The same contract, with its ownership interface.
    Ownable2Step internal ownable;

    function _readInput() internal virtual override {
        super._readInput();
        _requireSet("DATASET", "the dataset's name, for example financial");
        name = _variable("DATASET");
        dataset = IDataset(_deployedAt(string.concat(".datasets.", name, ".address")));
        require(
            address(dataset) != address(0),
            string.concat(
                deploymentPath,
                " has no deployed dataset ",
                name,
                ". Correct DATASET, deploy it, or set DEPLOYMENTS_DIR to the folder that has it."
            )
        );
        ownable = Ownable2Step(address(dataset));
        console.log("%s: %s", name, address(dataset));
    }

    /// @notice Calls the dataset from an account: sends the call if the script's sender is that account, or prints it
    /// for a contract, such as a multisig, to make. A call that would revert is not sent.
    /// @param role The role of the account, for messages.
    function _callAs(string memory role, address account, bytes memory data) internal {
        _callAs(role, account, data, 0);
    }

    /// @notice Calls the dataset from the signer's account, with a payment.
    /// @param value The payment, in wei.
    function _pay(bytes memory data, uint256 value) internal {
        _callAs("signer", msg.sender, data, value);
    }

    function _callAs(string memory role, address account, bytes memory data, uint256 value) private {
        bool isSigner = msg.sender == account;
        require(
            isSigner || account.code.length > 0,
            string.concat("The ", role, " is ", vm.toString(account), ", not the sender. Sign with its key.")
        );
        console.log("  to   %s", address(dataset));
        console.log("  data %s", vm.toString(data));
        if (isSigner) {
            vm.broadcast(account);
        } else {
            console.log("  Not sent. The %s is a contract, which has to make this call: %s", role, account);
            vm.prank(account);
        }
        (bool isDone, bytes memory reason) = address(dataset).call{value: value}(data);
        if (isDone) return;
        console.log("The dataset rejects this call, so nothing was sent.");
        LowLevelCall.bubbleRevert(reason);
    }

    /// @notice Shares the income of a committee among its members, if there is at least 1 wei for each.
    function _shareIncome(string memory role, address account, address[] memory members, uint256 toleranceBps)
        internal
    {
        uint256 income = dataset.unsharedIncomeOf(CommitteeLibrary.hashOf(members, toleranceBps));
        if (income < members.length) {
            console.log("Nothing to share: the committee's income is %s wei.", income);
            return;
        }
        console.log("Share %s wei among the committee's %s members:", income, members.length);
        uint256 unpaid = _unpaidShares(members);
        _callAs(role, account, abi.encodeCall(IDataset.shareIncome, (members, toleranceBps)));
        uint256 refused = _unpaidShares(members) - unpaid;
        if (refused == 0) return;
        console.log("Some members refuse their shares. Wei that they can claim with claimShares: %s", refused);
    }

    function _unpaidShares(address[] memory members) private view returns (uint256 total) {
        for (uint256 i = 0; i < members.length; ++i) {
            total += dataset.unpaidShares(members[i]);
        }
    }

    /// @notice Returns the current committee. The dataset stores its hash and the block of its event: the logs of that
    /// block are read, or CURRENT_MEMBERS and CURRENT_TOLERANCE_BPS if the RPC does not have them.
    function _currentCommittee() internal returns (address[] memory members, uint256 toleranceBps) {
        if (_isSet("CURRENT_MEMBERS")) {
            _requireSet("CURRENT_TOLERANCE_BPS", "the tolerance of CURRENT_MEMBERS, in basis points");
            (members, toleranceBps) = (_addressVariables("CURRENT_MEMBERS"), _uintVariable("CURRENT_TOLERANCE_BPS"));
            require(
                CommitteeLibrary.hashOf(members, toleranceBps) == dataset.committeeHash(),
                "CURRENT_MEMBERS and CURRENT_TOLERANCE_BPS are not the dataset's committee. Correct or unset both."
            );
            return (members, toleranceBps);
        }
        (, VmSafe.EthGetLogs[] memory logs) = _logsOfCommitteeBlock(IDataset.CommitteeChanged.selector);
        for (uint256 i = 0; i < logs.length; ++i) {
            (members, toleranceBps) = abi.decode(logs[i].data, (address[], uint256));
            // The committee can change twice in one block.
            if (CommitteeLibrary.hashOf(members, toleranceBps) == dataset.committeeHash()) {
                return (members, toleranceBps);
            }
        }
        revert(
            string.concat(
                "The RPC does not have the event of the current committee in block ",
                vm.toString(dataset.committeeBlock()),
                ". Use one that keeps old logs, or set CURRENT_MEMBERS and CURRENT_TOLERANCE_BPS."
            )
        );
    }

    /// @notice Returns the dataset's logs of an event in the block in which the committee last changed; false and none
    /// if the RPC refuses to return logs of that block.
    function _logsOfCommitteeBlock(bytes32 selector) internal virtual returns (bool, VmSafe.EthGetLogs[] memory) {
        bytes32[] memory topics = new bytes32[](1);
        topics[0] = selector;
        uint256 number = dataset.committeeBlock();
        try vm.eth_getLogs(number, number, address(dataset), topics) returns (VmSafe.EthGetLogs[] memory logs) {
            return (true, logs);
        } catch {
            return (false, new VmSafe.EthGetLogs[](0));
        }
    }
}
