// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Bytes} from "@openzeppelin/contracts/utils/Bytes.sol";
import {console} from "forge-std/Script.sol";

import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm, KeyFormLibrary} from "../../src/types/KeyForm.sol";
import {NetworkScript} from "./NetworkScript.sol";

/// @notice Deploys contracts that do not exist yet and records their addresses.
abstract contract DeployScript is NetworkScript {
    using Bytes for bytes;
    using KeyFormLibrary for KeyForm;

    uint256 private constant POLYGON = 137;
    uint256 private constant POLYGON_AMOY = 80_002;

    /// @dev Init code that runs the newest instructions that the contracts use, PUSH0 and Cancun's, and returns nothing.
    string private constant USES_REQUIRED = "0x5f5f5d5f5c505f5f5f5e5f5ff3";
    /// @dev Init code that returns nothing, on any EVM.
    string private constant USES_NOTHING = "0x60006000f3";

    function _readInput() internal override {
        super._readInput();
        _requireCancun();
    }

    /// @notice Deploys a dataset from its settings, unless an earlier run did: then only its keys in the deployments
    /// file can change. RotateCommittee keeps the committee there up to date.
    function _deployDataset(string memory name, IDataset.Judgement judgement, KeyForm keyForm)
        internal
        returns (IDataset dataset)
    {
        string memory path = string.concat(".datasets.", name);
        dataset = IDataset(_deployedAt(string.concat(path, ".address")));
        if (_isThere(name, address(dataset))) {
            require(
                dataset.keyForm() == keyForm && dataset.judgement() == judgement,
                string.concat(deploymentPath, ": ", name, " has another kind or key form. Correct its address.")
            );
            if (_keysChange(name)) _list(string.concat(path, ".keys"), _jsonOf(_checkedKeys(name, keyForm)));
        } else {
            DatasetSettings memory settings = _settings(name, keyForm);
            _serialize(name, judgement, settings);
            _logSettings(name, settings);
            _warnOfFreeReads(settings.queryPrice);
            bytes memory code = _compiled(judgement == IDataset.Judgement.MEDIAN ? "MedianDataset" : "MajorityDataset");
            vm.broadcast();
            dataset = IDataset(_create(bytes.concat(code, abi.encode(settings))));
            console.log("Deploy %s at %s", name, address(dataset));
            _list(path, vm.serializeAddress(name, "address", address(dataset)), address(dataset));
        }
    }

    /// @notice Deploys a contract without constructor arguments, unless it exists already: through the deterministic
    /// deployment proxy, if the network has it, so that its address is the same on every such network.
    /// @param name Its name in the deployments file.
    function _deployAtFixedAddress(string memory name, string memory contractName) internal returns (address deployed) {
        deployed = _deployedAt(string.concat(".", name));
        if (_isThere(name, deployed)) return deployed;
        bytes memory code = _compiled(contractName);
        deployed = vm.computeCreate2Address(0, keccak256(code), CREATE2_FACTORY);
        bool isNew = deployed.code.length == 0;
        if (isNew) {
            vm.broadcast();
            if (CREATE2_FACTORY.code.length == 0) {
                deployed = _create(code);
            } else {
                (bool isDone,) = CREATE2_FACTORY.call(bytes.concat(bytes32(0), code));
                require(isDone, string.concat("The deterministic deployment proxy did not deploy ", name, "."));
            }
        }
        _record(name, deployed, isNew);
    }

    /// @notice Returns true if a contract in the deployments file exists already, and logs it.
    function _isThere(string memory name, address deployed) internal pure returns (bool isThere) {
        isThere = deployed != address(0);
        if (isThere) console.log("%s exists already, so nothing was deployed: %s", name, deployed);
    }

    /// @notice Adds the address of a contract to the deployments file under its name, and logs it.
    /// @param isNew Whether this run deploys the contract.
    function _record(string memory name, address deployed, bool isNew) internal {
        _list(string.concat(".", name), string.concat('"', vm.toString(deployed), '"'), isNew ? deployed : address(0));
        console.log(isNew ? "Deploy %s at %s" : "Record %s, which exists already at %s", name, deployed);
    }

    function _settings(string memory name, KeyForm keyForm) private view returns (DatasetSettings memory settings) {
        settings.owner = _ownerSetting(name);
        settings.keyForm = keyForm;
        (settings.members, settings.toleranceBps) = _committeeSetting(name);
        settings.maxRoundAge = _uintSetting(name, "maxRoundAge");
        _check(settings.maxRoundAge > 0, name, "maxRoundAge is 0: no round could be stored. Raise it.");
        settings.priceCeiling = _uintSetting(name, "priceCeiling");
        settings.queryPrice = _uintSetting(name, "queryPrice");
        _check(settings.priceCeiling <= type(uint72).max, name, "priceCeiling is not below 2^72 wei. Lower it.");
        _check(settings.queryPrice <= settings.priceCeiling, name, "queryPrice is above priceCeiling. Lower it.");
        settings.subscriptionPriceCeiling = _uintSetting(name, "subscriptionPriceCeiling");
        settings.subscriptionPrice = _uintSetting(name, "subscriptionPrice");
        _check(
            settings.subscriptionPrice <= settings.subscriptionPriceCeiling,
            name,
            "subscriptionPrice is above subscriptionPriceCeiling. Lower it."
        );
    }

    /// @dev Logs the numbers as they were read: the settings file may have them in other forms, such as "10 gwei".
    function _logSettings(string memory name, DatasetSettings memory settings) private pure {
        console.log("Settings of %s, fixed for ever:", name);
        console.log("  key form %s", _nameOf(settings.keyForm));
        console.log("  maxRoundAge %s seconds", settings.maxRoundAge);
        console.log("  priceCeiling %s wei", settings.priceCeiling);
        console.log("  subscriptionPriceCeiling %s wei", settings.subscriptionPriceCeiling);
        console.log("Settings of %s that its owner can change:", name);
        console.log("  owner %s", settings.owner);
        for (uint256 i = 0; i < settings.members.length; ++i) {
            console.log("  member %s", settings.members[i]);
        }
        console.log("  toleranceBps %s", settings.toleranceBps);
        console.log("  queryPrice %s wei", settings.queryPrice);
        console.log("  subscriptionPrice %s wei", settings.subscriptionPrice);
    }

    /// @dev src/Subscriptions.sol says why everybody reads for nothing there.
    function _warnOfFreeReads(uint256 queryPrice) private {
        if (queryPrice == 0 || (block.chainid != POLYGON && block.chainid != POLYGON_AMOY)) return;
        _warn(
            "bridge messages to Polygon PoS have no origin, so a contract that gets one reads without paying, and may tell others what it reads. docs/ThreatModel.md says more."
        );
    }

    function _nameOf(KeyForm keyForm) private pure returns (string memory) {
        return keyForm == KeyForm.SPOT_PRICE ? "SPOT_PRICE" : "WEB_ORACLE";
    }

    /// @dev Begins the dataset's entry. The address follows: it is unknown until the dataset is deployed.
    function _serialize(string memory name, IDataset.Judgement judgement, DatasetSettings memory settings) private {
        vm.serializeString(name, "kind", judgement == IDataset.Judgement.MEDIAN ? "median" : "majority");
        vm.serializeString(name, "keyForm", _nameOf(settings.keyForm));
        vm.serializeString(name, "keys", _checkedKeys(name, settings.keyForm));
        vm.serializeAddress(name, "members", settings.members);
        vm.serializeUint(name, "toleranceBps", settings.toleranceBps);
    }

    /// @dev Returns the keys of the settings. Reverts if one does not have the key form.
    function _checkedKeys(string memory name, KeyForm keyForm) private view returns (string[] memory keys) {
        keys = _keysSetting(name);
        for (uint256 i = 0; i < keys.length; ++i) {
            bool isGood = keyForm.matches(bytes(keys[i]));
            _check(
                isGood, name, string.concat('keys has "', keys[i], '", which does not have the key form. Correct it.')
            );
        }
    }

    /// @dev Returns whether the settings list other keys than the deployments file, and logs which.
    function _keysChange(string memory name) private view returns (bool) {
        string[] memory keys = _keysSetting(name);
        string[] memory listed = _listedKeys(name);
        if (keccak256(abi.encode(keys)) == keccak256(abi.encode(listed))) return false;
        console.log("Change the keys of %s in %s: nothing changes on chain.", name, deploymentPath);
        _logMissing("  adds    %s", keys, listed);
        _logMissing("  removes %s", listed, keys);
        console.log("  keys %s -> %s", listed.length, keys.length);
        return true;
    }

    /// @dev Logs the keys that others do not have.
    function _logMissing(string memory line, string[] memory keys, string[] memory others) private pure {
        for (uint256 i = 0; i < keys.length; ++i) {
            if (!_contains(others, keys[i])) console.log(line, keys[i]);
        }
    }

    /// @dev Forge simulates with an EVM of its own, so only the node can tell which one the network has. A node that
    /// refuses both calls tells nothing.
    function _requireCancun() private {
        (bool isDone, string memory reason) = _tryCall(USES_REQUIRED);
        if (isDone) return;
        (bool canCall,) = _tryCall(USES_NOTHING);
        // The first call may have failed for a moment only.
        if (canCall) (isDone, reason) = _tryCall(USES_REQUIRED);
        require(
            isDone || !canCall,
            string.concat(
                "The network's EVM is older than Cancun, so the contracts would fail, and a dataset's income be locked. ",
                "Deploy to a network that has Cancun, or with the RPC of a newer node. The RPC's error: ",
                reason
            )
        );
    }

    /// @dev Has the node run init code, in a call that creates no contract.
    function _tryCall(string memory initCode) private returns (bool isDone, string memory reason) {
        try vm.rpc("eth_call", string.concat('[{"data":"', initCode, '"},"latest"]')) {
            isDone = true;
        } catch (bytes memory refusal) {
            // forge's errors are a selector and a text.
            reason = abi.decode(refusal.slice(4), (string));
        }
    }
}
