// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test, Vm} from "forge-std/Test.sol";

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Oracle} from "../../src/Oracle.sol";
import {Logs} from "../../src/libraries/Logs.sol";

contract LogsTest is Test {
    function testFuzz_updated_matchesPlainSolidity(bytes32 keyHash, bytes32 value, uint256 timestamp, uint8 status)
        public
    {
        Oracle.QueryStatus status_ = Oracle.QueryStatus(status % 4);
        vm.recordLogs();
        emit IDataset.Updated(keyHash, value, timestamp, status_);
        Logs.updated(keyHash, value, timestamp, status_);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 2);
        assertEq(abi.encode(logs[1]), abi.encode(logs[0]));
    }

    function test_updated_leavesMemoryAsItWas() public {
        bytes memory before = abi.encode(type(uint256).max);
        Logs.updated(0, 0, 0, Oracle.QueryStatus.OK);
        assertEq(before, abi.encode(type(uint256).max));
    }
}
