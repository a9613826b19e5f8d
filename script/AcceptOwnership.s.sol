// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {console} from "forge-std/Script.sol";

import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Accepts the ownership of DATASET on behalf of the new owner that its settings name.
contract AcceptOwnership is DatasetScript {
    function run() external checked {
        address next = _ownerSetting(name);
        address owner = ownable.owner();
        if (next == owner) {
            console.log("Nothing to do: the owner is %s.", owner);
            return;
        }
        _check(
            next == ownable.pendingOwner(),
            name,
            string.concat(
                "owner is ", vm.toString(next), ", to which the ownership was not offered. Run TransferOwnership first."
            )
        );
        console.log("Accept the ownership: %s -> %s", owner, next);
        _callAs("new owner", next, abi.encodeCall(Ownable2Step.acceptOwnership, ()));
        _finish();
    }
}
