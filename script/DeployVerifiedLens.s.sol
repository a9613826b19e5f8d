// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {console} from "forge-std/Script.sol";

import {DeployScript} from "./base/DeployScript.sol";

/// @dev The part of `VerifiedLens` that is called here. The contract is not imported, so that it is not compiled with the
/// script.
interface IVerifiedLens {
    function gateways() external view returns (string[] memory);
}

/// @notice Deploys the lens that reads any dataset of the network through the gateways that GATEWAYS names, separated
/// by commas.
contract DeployVerifiedLens is DeployScript {
    function run() external checked returns (IVerifiedLens lens) {
        _requireSet(
            "GATEWAYS", "the URLs of the operators' gateways, separated by commas: script/README.md has an example"
        );
        string[] memory gateways = vm.split(_variable("GATEWAYS"), ",");
        for (uint256 i = 0; i < gateways.length; ++i) {
            gateways[i] = vm.trim(gateways[i]);
        }
        lens = IVerifiedLens(_deployedAt(".verifiedLens"));
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
        lens = IVerifiedLens(_create(bytes.concat(code, abi.encode(gateways))));
        _record("verifiedLens", address(lens), true);
        _finish();
    }
}
