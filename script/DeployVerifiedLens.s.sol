// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {console} from "forge-std/Script.sol";

import {VerifiedLens} from "../src/lens/VerifiedLens.sol";
import {DeployScript} from "./base/DeployScript.sol";

/// @notice Deploys the lens that reads any dataset of the network through the gateways that GATEWAYS names, separated
/// by commas.
contract DeployVerifiedLens is DeployScript {
    function run() external checked returns (VerifiedLens lens) {
        _requireSet(
            "GATEWAYS", "the URLs of the operators' gateways, separated by commas: script/README.md has an example"
        );
        string[] memory gateways = vm.envString("GATEWAYS", ",");
        lens = VerifiedLens(_deployedAt(".verifiedLens"));
        if (_isThere("verifiedLens", address(lens))) {
            require(
                keccak256(abi.encode(lens.gateways())) == keccak256(abi.encode(gateways)),
                string.concat(
                    deploymentPath, ": verifiedLens has other gateways. Remove it to deploy one with those of GATEWAYS."
                )
            );
            return lens;
        }
        console.log("Settings of verifiedLens, all fixed for ever:");
        for (uint256 i = 0; i < gateways.length; ++i) {
            console.log("  gateway %s", gateways[i]);
        }
        bytes memory code = _compiled("VerifiedLens");
        vm.broadcast();
        lens = VerifiedLens(_create(bytes.concat(code, abi.encode(gateways))));
        _record("verifiedLens", address(lens), true);
        _finish();
    }
}
