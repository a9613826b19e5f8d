// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle} from "@dataset-oracle/contracts/usingOracleProtocol.sol";
import {Script, console} from "forge-std/Script.sol";

import {Shop} from "../src/Shop.sol";

/// @notice Deploys a shop that reads the dataset ORACLE, and buys a ticket with the update in ANSWER, an operator's
/// JSON answer.
contract Buy is Script {
    function run() external {
        bytes memory update = vm.parseJsonBytes(vm.envString("ANSWER"), ".update");
        // forge simulates in the latest block, which may be older than the update.
        uint256 time = vm.unixTime() / 1000;
        if (time > block.timestamp) vm.warp(time);
        vm.startBroadcast();
        Shop shop = new Shop(Oracle(vm.envAddress("ORACLE")));
        uint256 cost = shop.buy{value: 1 ether}(update);
        vm.stopBroadcast();
        console.log("Shop:", address(shop));
        console.log("A ticket costs, in wei:", cost);
    }
}
