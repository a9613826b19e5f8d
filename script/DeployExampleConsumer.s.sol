// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Script, console} from "forge-std/Script.sol";

import {Oracle} from "../src/Oracle.sol";
import {SpotPriceConsumer} from "../test/examples/SpotPriceConsumer.sol";

/// @notice Deploys the example consumer of the dataset that ORACLE names, with one Ether to pay for its queries.
contract DeployExampleConsumer is Script {
    function run() external returns (SpotPriceConsumer consumer) {
        Oracle oracle = Oracle(vm.envAddress("ORACLE"));
        vm.broadcast();
        consumer = new SpotPriceConsumer{value: 1 ether}(oracle);
        console.log("Example consumer:", address(consumer));
    }
}
