// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {console} from "forge-std/Script.sol";

import {IDataset} from "../src/interfaces/IDataset.sol";
import {OracleProtocol} from "../src/usingOracleProtocol.sol";
import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Sets the query price of DATASET to the one in its settings.
contract SetQueryPrice is DatasetScript {
    function run() external checked {
        uint256 price = _uintSetting(name, "queryPrice");
        uint256 ceiling = dataset.priceCeiling();
        _check(
            price <= ceiling,
            name,
            string.concat("queryPrice is above the dataset's ceiling of ", vm.toString(ceiling), " wei. Lower it.")
        );
        uint256 current = dataset.queryPrice();
        if (price == current) {
            console.log("Nothing to do: the query price is %s wei.", price);
            return;
        }
        console.log("Set the query price: %s -> %s wei", current, price);
        if (price > OracleProtocol.DEFAULT_MAX_PRICE) {
            _warn(
                "above 0.001 Ether, contracts that use the helpers with their default maximum revert with PriceTooHigh."
            );
        }
        _callAs("owner", ownable.owner(), abi.encodeCall(IDataset.setQueryPrice, (price)));
        _finish();
    }
}
