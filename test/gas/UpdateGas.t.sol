// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Providers} from "../utils/Providers.sol";
import {Update} from "../utils/UpdateArguments.sol";
import {GasFixture} from "./GasFixture.sol";

/// @notice Measures whole update transactions with cold storage, in steady state except for the first of a key.
/// forge-config: default.isolate = true
contract UpdateGasTest is GasFixture {
    function test_update_3of4() public {
        _snapshot("update, 3 of 4 signers", 4, 3);
    }

    function test_update_4of5() public {
        _snapshot("update, 4 of 5 signers", 5, 4);
    }

    function test_update_firstOfAKey() public {
        Providers committee = new Providers(5, TOLERANCE_BPS);
        IDataset target = deploy(committee);
        Update memory update = committee.report(target, KEY, START, valuesNear3000(4, 1));
        measure("update", "first update of a key, 4 of 5 signers", address(target), update.encode());
    }

    function test_update_9of13() public {
        _snapshot("update, 9 of 13 signers", 13, 9);
    }

    function test_update_21of31() public {
        _snapshot("update, 21 of 31 signers", 31, 21);
    }

    function _snapshot(string memory name, uint256 members, uint256 signers) private {
        Providers committee = new Providers(members, TOLERANCE_BPS);
        IDataset target = deploy(committee);
        committee.report(target, KEY, START, valuesNear3000(signers, 1)).send(target);
        vm.warp(START + 60);
        Update memory update = committee.report(target, KEY, START + 58, valuesNear3000(signers, 2));
        measure("update", name, address(target), update.encode());
    }
}
