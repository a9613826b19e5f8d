// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Script, console} from "forge-std/Script.sol";
import {stdJson} from "forge-std/StdJson.sol";
import {VmSafe} from "forge-std/Vm.sol";

import {MedianDataset} from "../src/MedianDataset.sol";
import {DatasetSettings} from "../src/interfaces/IDataset.sol";
import {KeyForm} from "../src/types/KeyForm.sol";

/// @notice Deploys the financial dataset of one network.
///
///     npm run forge -- script script/DeployFinancialDataset.s.sol --rpc-url <url> --account <keystore> --broadcast
///
/// Without --broadcast it is a dry run. The settings come from script/config/<chainId>.json, or from the file that
/// DEPLOY_CONFIG names. The address is written to deployments/<chainId>.json, or into the folder that DEPLOYMENTS_DIR
/// names: operators and providers read it from there. A second run finds the dataset there, and deploys nothing.
contract DeployFinancialDataset is Script {
    using stdJson for string;

    string private constant NAME = "financial";

    error WrongChain(uint256 configured, uint256 connected);
    error OwnerMissing(string config);

    function run() external returns (MedianDataset dataset) {
        string memory id = vm.toString(block.chainid);
        string memory configPath = vm.envOr("DEPLOY_CONFIG", string.concat("script/config/", id, ".json"));
        string memory folder = vm.envOr("DEPLOYMENTS_DIR", string("deployments"));
        string memory path = string.concat(folder, "/", id, ".json");
        string memory config = vm.readFile(configPath);

        uint256 configured = config.readUint(".chainId");
        if (configured != block.chainid) revert WrongChain(configured, block.chainid);
        DatasetSettings memory settings = _settings(config);
        if (settings.owner == address(0)) revert OwnerMissing(configPath);

        address existing = _deployed(path);
        if (existing.code.length > 0) {
            console.log("The financial dataset is there already, nothing was deployed:", existing);
            return MedianDataset(existing);
        }

        vm.broadcast();
        dataset = new MedianDataset(settings);
        console.log("Financial dataset:", address(dataset));
        if (vm.isContext(VmSafe.ForgeContext.ScriptDryRun)) {
            console.log("A dry run: nothing was sent, and nothing written. Add --broadcast to deploy.");
            return dataset;
        }
        vm.createDir(folder, true);
        vm.writeJson(_deployment(address(dataset), config.readStringArray(".financial.keys")), path);
        console.log("Written to:", path);
    }

    function _settings(string memory config) private pure returns (DatasetSettings memory) {
        return DatasetSettings({
            owner: config.readAddress(".financial.owner"),
            keyForm: KeyForm.SPOT_PRICE,
            maxRoundAge: config.readUint(".financial.maxRoundAge"),
            priceCeiling: config.readUint(".financial.priceCeiling"),
            queryPrice: config.readUint(".financial.queryPrice"),
            toleranceBps: config.readUint(".financial.toleranceBps"),
            members: config.readAddressArray(".financial.members")
        });
    }

    /// @return The address that an earlier run wrote; zero if none did.
    function _deployed(string memory path) private view returns (address) {
        if (!vm.exists(path)) return address(0);
        string memory deployment = vm.readFile(path);
        if (!deployment.keyExists(".datasets.financial")) return address(0);
        return deployment.readAddress(".datasets.financial.address");
    }

    function _deployment(address dataset, string[] memory keys) private returns (string memory) {
        string memory entry = "dataset";
        vm.serializeAddress(entry, "address", dataset);
        vm.serializeString(entry, "kind", "median");
        vm.serializeString(entry, "keyForm", "SPOT_PRICE");
        string memory datasets = vm.serializeString("datasets", NAME, vm.serializeString(entry, "keys", keys));
        vm.serializeUint("deployment", "chainId", block.chainid);
        return vm.serializeString("deployment", "datasets", datasets);
    }
}
