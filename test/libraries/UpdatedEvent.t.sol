// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test, Vm} from "forge-std/Test.sol";

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Oracle} from "../../src/Oracle.sol";
import {UpdatedEvent} from "../../src/libraries/UpdatedEvent.sol";

contract UpdatedEventTest is Test {
    function testFuzz_emitUpdated_matchesPlainSolidity(bytes32 keyHash, bytes32 value, uint256 timestamp, uint8 status)
        public
    {
        Oracle.QueryStatus status_ = Oracle.QueryStatus(status % 4);
        bytes memory before = abi.encode(value);
        vm.recordLogs();
        emit IDataset.Updated(keyHash, value, timestamp, status_);
        UpdatedEvent.emitUpdated(keyHash, value, timestamp, status_);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 2);
        assertEq(abi.encode(logs[1]), abi.encode(logs[0]));
        assertEq(before, abi.encode(value), "memory");
    }
}
