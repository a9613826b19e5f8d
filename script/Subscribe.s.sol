// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {console} from "forge-std/Script.sol";

import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Pays for READER to read DATASET by subscription for at least the next DAYS days. Anyone may run it.
contract Subscribe is DatasetScript {
    function run() external checked {
        _requireSet("READER", "the address that reads, for example an adapter's");
        _requireSet("DAYS", "the number of days from now");
        address reader = _addressVariable("READER");
        uint256 wanted = vm.getBlockTimestamp() + _uintVariable("DAYS") * 1 days;
        uint256 until = dataset.subscribedUntil(reader);
        if (until >= wanted) {
            console.log("Nothing to do: %s is subscribed until %s.", reader, until);
            return;
        }
        uint256 missing = wanted - Math.max(until, vm.getBlockTimestamp());
        (uint256 price, uint256 period,) = dataset.costOfSubscription();
        uint256 periods = Math.ceilDiv(missing, period);
        console.log("Subscribe %s for %s days: %s wei", reader, periods * period / 1 days, periods * price);
        _pay(abi.encodeCall(IDataset.subscribe, (reader, periods)), periods * price);
        console.log("  until %s -> %s, in seconds since 1970", until, dataset.subscribedUntil(reader));
        _finish();
    }
}
