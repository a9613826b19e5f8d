// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Update} from "./utils/UpdateArguments.sol";

contract DatasetAnnounceTest is DatasetFixture {
    function test_announce_addsTheKeyOnce() public {
        bytes memory key = "SPOTPX/DOGE-USD";
        vm.expectEmit(address(dataset));
        emit IDataset.KeyAdded(keccak256(key), key);
        vm.prank(makeAddr("anyone"));
        dataset.announce(key);
        assertAnswer(dataset, key, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);

        vm.recordLogs();
        dataset.announce(key);
        assertEq(vm.getRecordedLogs().length, 0);
        assertAnswer(dataset, key, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_announce_leavesAStoredKeyAsItIs() public {
        Update memory update = validUpdate();
        update.send(dataset);
        vm.record();
        dataset.announce(KEY);
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        assertEq(writes.length, 0);
        assertAnswer(dataset, KEY, update.value, START, Oracle.QueryStatus.OK);
    }

    function test_update_doesNotAddAnAnnouncedKeyAgain() public {
        Update memory update = validUpdate();
        dataset.announce(KEY);
        vm.recordLogs();
        update.send(dataset);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics[0], IDataset.Updated.selector);
    }
}
