// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {console} from "forge-std/Script.sol";

import {KeyFormLibrary} from "../src/types/KeyForm.sol";
import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Deploys an adapter of DATASET: with `--sig "chainlink()"`, `"pyth()"`, `"quotes()"` or `"morpho()"`. Anyone
/// may run it. While queries are charged, the adapter answers after Subscribe.s.sol has paid for its address.
contract DeployAdapter is DatasetScript {
    /// @dev The same as `QuoteAdapter.Asset`, which is not imported, so that QuoteAdapter is not compiled with the
    /// script.
    struct Asset {
        address asset;
        bytes key;
    }

    /// @dev Adapters answer with numbers.
    function _readInput() internal override {
        super._readInput();
        require(
            keccak256(bytes(_deployedKind(name))) == keccak256("median"),
            string.concat(name, " stores bytes, and adapters read numbers. Set DATASET to a median dataset.")
        );
    }

    /// @notice Deploys a ChainlinkAdapter of KEY, with DECIMALS.
    function chainlink() external checked {
        bytes memory key = bytes(vm.envString("KEY"));
        _requireForm(key);
        _deploy("ChainlinkAdapter", abi.encode(dataset, key, vm.envOr("DECIMALS", uint256(8))));
    }

    /// @notice Deploys a PythAdapter with EXPONENT and CONFIDENCE_BPS. Keys are listed afterwards, with its `list`.
    function pyth() external checked {
        _deploy(
            "PythAdapter",
            abi.encode(dataset, vm.envOr("EXPONENT", int256(-8)), vm.envOr("CONFIDENCE_BPS", uint256(100)))
        );
    }

    /// @notice Deploys a QuoteAdapter of ASSETS, whose prices are under KEYS in the same order, and at most MAX_AGE
    /// seconds old. An asset whose key is empty is the common quote.
    function quotes() external checked {
        address[] memory addresses = vm.envAddress("ASSETS", ",");
        string[] memory keys = vm.split(vm.envString("KEYS"), ",");
        require(addresses.length == keys.length, "ASSETS and KEYS differ in number. Give each asset one key.");
        Asset[] memory assets = new Asset[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            bytes memory key = bytes(keys[i]);
            if (key.length > 0) _requireForm(key);
            assets[i] = Asset(addresses[i], key);
        }
        _deploy("QuoteAdapter", abi.encode(dataset, vm.envUint("MAX_AGE"), assets));
    }

    /// @notice Deploys a MorphoAdapter of COLLATERAL and LOAN over the QuoteAdapter at QUOTES.
    function morpho() external checked {
        address adapter = vm.envAddress("QUOTES");
        require(adapter.code.length > 0, "QUOTES has no code. Deploy a QuoteAdapter first.");
        _deploy("MorphoAdapter", abi.encode(adapter, vm.envAddress("COLLATERAL"), vm.envAddress("LOAN")));
    }

    /// @dev An adapter of a key that the dataset can never store would never answer.
    function _requireForm(bytes memory key) private view {
        require(
            KeyFormLibrary.matches(dataset.keyForm(), key),
            string.concat(string(key), " is not a key of the dataset. Price keys are like SPOTPX/ETH-USD.")
        );
    }

    function _deploy(string memory adapter, bytes memory arguments) private {
        bytes memory code = bytes.concat(_compiled(adapter), arguments);
        vm.broadcast();
        console.log("Deploy %s at %s", adapter, _create(code));
        _finish();
    }
}
