// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Providers} from "../utils/Providers.sol";
import {GasFixture} from "./GasFixture.sol";

/// @notice Measures whole transactions of a majority dataset, with cold storage: the first update of a key, and one of
/// a key that has a value.
/// forge-config: default.isolate = true
contract MajorityGasTest is GasFixture {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }

    function test_update_number() public {
        _snapshot("a boolean", bytes32(uint256(1)));
    }

    function test_update_shortText() public {
        _snapshot("a text of 25 bytes", "partly cloudy, some rain.");
    }

    function test_update_hash() public {
        _snapshot("32 bytes", keccak256("a document"));
    }

    function _snapshot(string memory name, bytes32 value) private {
        Providers committee = new Providers(5, TOLERANCE_BPS);
        IDataset target = deploy(committee);
        _update(committee, target, string.concat("first update of a key, ", name, ", 4 of 5 signers"), value);
        vm.warp(START + 60);
        _update(committee, target, string.concat("update, ", name, ", 4 of 5 signers"), value);
        vm.prank(OWNER);
        target.setQueryPrice(0);
        target.query(KEY);
        vm.snapshotGasLastCall("majority", string.concat("query, ", name, ", price 0"));
    }

    function _update(Providers committee, IDataset target, string memory name, bytes32 value) private {
        measure(
            "majority",
            name,
            address(target),
            committee.report(target, KEY, block.timestamp, equal(4, uint256(value))).encode()
        );
    }
}
