// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {console} from "forge-std/Script.sol";

import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Offers DATASET to the owner in its settings. The current owner keeps it until the new one accepts it with
/// AcceptOwnership.s.sol. An offer to anyone else is withdrawn.
contract TransferOwnership is DatasetScript {
    function run() external checked {
        address next = _ownerSetting(name);
        address owner = ownable.owner();
        address pending = ownable.pendingOwner();
        if (next == owner) next = address(0);
        if (next == pending) {
            if (next == address(0)) console.log("Nothing to do: the owner is %s.", owner);
            else console.log("Nothing to do: the ownership is already offered to %s, who has to accept it.", next);
            return;
        }
        if (pending != address(0)) console.log("Withdraw the offer to %s", pending);
        if (next != address(0)) console.log("Offer the ownership: %s -> %s", owner, next);
        _callAs("owner", owner, abi.encodeCall(Ownable2Step.transferOwnership, (next)));
        _finish();
    }
}
