// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle, OracleProtocol} from "../../src/usingOracleProtocol.sol";
import {SpotPriceConsumer} from "../examples/SpotPriceConsumer.sol";
import {MockOracle} from "../../src/mocks/MockOracle.sol";

/// @notice Tests a consumer with a MockOracle. It also serves as an example.
contract MockOracleTest is Test {
    MockOracle private oracle;
    SpotPriceConsumer private consumer;

    function setUp() public {
        vm.warp(1_790_000_000);
        oracle = new MockOracle();
        oracle.setQueryPrice(0.001 ether);
        consumer = new SpotPriceConsumer{value: 1 ether}(oracle);
    }

    function testFuzz_refresh_readsTheRateAndPays(uint256 rate) public {
        oracle.setSpotPrice("ETH-USD", rate);
        consumer.refresh();
        assertEq(consumer.rate(), rate);
        assertEq(address(oracle).balance, 0.001 ether);
        assertEq(address(consumer).balance, 0.999 ether);
    }

    function test_refresh_RevertWhen_theRateIsTooOld() public {
        oracle.setSpotPrice("ETH-USD", 3000e18, 10 minutes);
        consumer.refresh();
        vm.warp(block.timestamp + 1);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 601, 600));
        consumer.refresh();
    }

    function testFuzz_refresh_RevertWhen_theStatusIsNotOK(uint8 seed) public {
        Oracle.QueryStatus[3] memory others =
            [Oracle.QueryStatus.INVALID, Oracle.QueryStatus.NOT_AVAILABLE, Oracle.QueryStatus.DISAGREEMENT];
        Oracle.QueryStatus status = others[seed % 3];
        oracle.setAnswer("SPOTPX/ETH-USD", 0, 0, status);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, status));
        consumer.refresh();
    }

    function test_query_answersNotAvailableToAKeyThatWasNotSet() public {
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = oracle.query{value: 0.001 ether}("WEB/x");
        assertEq(output, 0);
        assertEq(updatedAt, 0);
        assertEq(uint8(status), uint8(Oracle.QueryStatus.NOT_AVAILABLE));
    }

    function testFuzz_setAnswer_isAtMostAsOldAsTheChain(uint256 age, uint32 time) public {
        vm.warp(time);
        oracle.setAnswer("WEB/x", 0, age, Oracle.QueryStatus.OK);
        (, uint256 updatedAt,) = oracle.query{value: 0.001 ether}("WEB/x");
        assertEq(updatedAt, age < time ? time - age : 0);
    }

    function testFuzz_query_RevertWhen_notPaidExactly(uint96 sent) public {
        vm.assume(sent != 0.001 ether);
        vm.deal(address(this), sent);
        vm.expectRevert(abi.encodeWithSelector(MockOracle.WrongPayment.selector, sent, 0.001 ether));
        oracle.query{value: sent}("SPOTPX/ETH-USD");
    }
}
