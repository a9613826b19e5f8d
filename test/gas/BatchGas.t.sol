// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Oracle} from "../../src/Oracle.sol";
import {Providers} from "../utils/Providers.sol";
import {Batch} from "../utils/UpdateArguments.sol";
import {GasFixture} from "./GasFixture.sol";

/// @notice Measures whole batch transactions with cold storage, in steady state.
/// forge-config: default.isolate = true
contract BatchGasTest is GasFixture {
    function test_updateBatch_10keys4of5() public {
        assertLe(_snapshot("batch of 10, 4 of 5 signers", 10, 5, 4), 148_000);
    }

    function test_updateBatch_100keys4of5() public {
        _snapshot("batch of 100, 4 of 5 signers", 100, 5, 4);
    }

    function test_updateBatch_100keys9of13() public {
        _snapshot("batch of 100, 9 of 13 signers", 100, 13, 9);
    }

    function _snapshot(string memory name, uint256 keyCount, uint256 members, uint256 signers)
        private
        returns (uint256 used)
    {
        Providers committee = new Providers(members, TOLERANCE_BPS);
        IDataset target = deploy(committee);
        bytes[] memory keys = announced(target, keyCount);
        batchOf(committee, target, keys, START, signers).send(target);
        vm.warp(START + 60);
        Batch memory batch = batchOf(committee, target, keys, START + 58, signers);
        used = measure("batch", name, address(target), batch.encode());
        for (uint256 i = 0; i < keyCount; ++i) {
            (, uint256 updatedAt, Oracle.QueryStatus status) = query(target, keys[i]);
            assertEq(updatedAt, batch.timestamp);
            assertEq(uint8(status), uint8(Oracle.QueryStatus.OK));
        }
    }
}
