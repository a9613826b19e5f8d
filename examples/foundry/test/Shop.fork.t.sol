// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle} from "@dataset-oracle/contracts/usingOracleProtocol.sol";
import {Test} from "forge-std/Test.sol";

import {Shop} from "../src/Shop.sol";

/// @notice Buys a ticket on a fork of the chain at FORK_URL, from the dataset ORACLE and with the update in ANSWER, an
/// operator's JSON answer. Without FORK_URL it is skipped.
contract ShopForkTest is Test {
    function test_buy_atTheRateOfAChain() public {
        string memory url = vm.envOr("FORK_URL", string(""));
        if (bytes(url).length == 0) vm.skip(true, "it needs FORK_URL, ORACLE and ANSWER");
        vm.createSelectFork(url);
        bytes memory update = vm.parseJsonBytes(vm.envString("ANSWER"), ".update");
        // The latest block may be older than the update.
        uint256 time = vm.unixTime() / 1000;
        if (time > block.timestamp) vm.warp(time);
        Shop shop = new Shop(Oracle(vm.envAddress("ORACLE")));
        uint256 cost = shop.buy{value: 1 ether}(update);
        assertEq(shop.ticketsOf(address(this)), 1);
        assertGt(cost, shop.oracle().queryPrice());
        assertEq(address(shop).balance, 0);
    }

    receive() external payable {}
}
