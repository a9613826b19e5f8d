// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";
import {Oracle, OracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";
import {Test} from "forge-std/Test.sol";

import {Shop} from "../src/Shop.sol";

contract ShopTest is Test {
    /// The mock's.
    uint256 private constant QUERY_PRICE = 0.001 ether;

    MockOracle private oracle;
    Shop private shop;
    address private buyer = makeAddr("buyer");

    function setUp() public {
        vm.warp(1_790_000_000);
        oracle = new MockOracle();
        shop = new Shop(oracle);
        vm.deal(buyer, 1 ether);
        vm.startPrank(buyer);
    }

    function testFuzz_buy_takesTwentyDollarsAndReturnsTheChange(uint256 rate) public {
        rate = bound(rate, 30e18, 1_000_000e18);
        oracle.setSpotPrice("ETH-USD", rate);
        uint256 cost = shop.buy{value: 1 ether}("");
        assertEq(shop.ticketsOf(buyer), 1);
        assertEq(buyer.balance, 1 ether - cost);
        assertEq(address(oracle).balance, QUERY_PRICE);
        assertApproxEqAbs((cost - QUERY_PRICE) * rate / 1 ether, 20e18, rate / 1 ether);
    }

    function test_buy_acceptsARateOfOneMinute() public {
        oracle.setSpotPrice("ETH-USD", 3000e18, 1 minutes);
        shop.buy{value: 1 ether}("");
        assertEq(shop.ticketsOf(buyer), 1);
    }

    function test_buy_RevertWhen_theRateIsOlder() public {
        oracle.setSpotPrice("ETH-USD", 3000e18, 1 minutes + 1);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 61, 60));
        shop.buy{value: 1 ether}("");
    }

    function test_buy_RevertWhen_theProvidersDisagree() public {
        oracle.setAnswer("SPOTPX/ETH-USD", 0, 0, Oracle.QueryStatus.DISAGREEMENT);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.DISAGREEMENT));
        shop.buy{value: 1 ether}("");
    }

    function test_buy_RevertWhen_thePaymentIsTooLow() public {
        oracle.setSpotPrice("ETH-USD", 2000e18);
        uint256 cost = 0.01 ether + QUERY_PRICE;
        vm.expectRevert(abi.encodeWithSelector(Shop.TooLittle.selector, cost - 1, cost));
        shop.buy{value: cost - 1}("");
    }

    function test_buy_RevertWhen_thePaymentIsLessThanTheQueryPrice() public {
        oracle.setSpotPrice("ETH-USD", 2000e18);
        vm.expectRevert(abi.encodeWithSelector(Shop.TooLittle.selector, 1, QUERY_PRICE));
        shop.buy{value: 1}("");
    }
}
