// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle} from "../../src/Oracle.sol";
import {DataPoint, DataPointLibrary} from "../../src/types/DataPoint.sol";

contract DataPointTest is Test {
    function testFuzz_pack_roundTrips(uint208 value, uint40 timestamp, uint8 status) public pure {
        Oracle.QueryStatus status_ = Oracle.QueryStatus(status % 4);
        DataPoint point = DataPointLibrary.pack(value, timestamp, status_);
        assertEq(point.value(), value);
        assertEq(point.timestamp(), timestamp);
        assertEq(uint256(point.status()), uint256(status_));
        assertEq(DataPoint.unwrap(point), uint256(bytes32(abi.encodePacked(value, timestamp, status_))));
    }

    function test_isEmpty_isTrueOnlyForAllZero() public pure {
        assertTrue(DataPoint.wrap(0).isEmpty());
        assertFalse(DataPointLibrary.pack(0, 1, Oracle.QueryStatus.INVALID).isEmpty());
        assertFalse(DataPointLibrary.pack(0, 0, Oracle.QueryStatus.OK).isEmpty());
        assertFalse(DataPointLibrary.pack(1, 0, Oracle.QueryStatus.INVALID).isEmpty());
    }
}
