// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {console} from "forge-std/Script.sol";

import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Sets the price of one period of a subscription to DATASET to the one in its settings.
contract SetSubscriptionPrice is DatasetScript {
    function run() external checked {
        uint256 price = _uintSetting(name, "subscriptionPrice");
        (uint256 current,, uint256 ceiling) = dataset.costOfSubscription();
        _check(
            price <= ceiling,
            name,
            string.concat(
                "subscriptionPrice is above the dataset's ceiling of ", vm.toString(ceiling), " wei. Lower it."
            )
        );
        if (price == current) {
            console.log("Nothing to do: the subscription price is %s wei.", price);
            return;
        }
        console.log("Set the subscription price: %s -> %s wei", current, price);
        _callAs("owner", ownable.owner(), abi.encodeCall(IDataset.setSubscriptionPrice, (price)));
        _finish();
    }
}
