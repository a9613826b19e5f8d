// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Script, console} from "forge-std/Script.sol";
import {stdJson} from "forge-std/StdJson.sol";
import {VmSafe} from "forge-std/Vm.sol";

import {CommitteeLibrary} from "../../src/types/Committee.sol";

/// @notice Reads what every script needs about its network: the settings in script/config/<chainId>.json, or in the
/// file that DEPLOY_CONFIG names, and the deployed addresses in deployments/<chainId>.json, or in the folder that
/// DEPLOYMENTS_DIR names; and creates contracts from the code that the tests run. Errors are sentences, because people
/// read them in a terminal.
abstract contract NetworkScript is Script {
    using stdJson for string;

    /// @dev What the deployments file is to say, as JSON at a path, once the contract exists; zero for one that exists.
    struct Entry {
        string path;
        string json;
        address created;
    }

    string internal configPath;
    string internal deploymentPath;
    string private _config;
    string private _deployment;
    Entry[] private _entries;
    string[] private _warnings;
    bool private _isGiven;
    mapping(string variable => string) private _given;
    /// @dev The contracts that this run creates.
    mapping(address created => bool) private _isNew;

    /// @dev Marks the functions that forge calls. In `setUp` forge would not show the sentences of the checks.
    modifier checked() {
        _readInput();
        _;
    }

    /// @dev Reverts unless both files are for the connected chain. The deployments file may be missing.
    function _readInput() internal virtual {
        string memory file = string.concat(vm.toString(block.chainid), ".json");
        configPath = _isSet("DEPLOY_CONFIG") ? _variable("DEPLOY_CONFIG") : string.concat("script/config/", file);
        deploymentPath = string.concat(_deploymentsFolder(), "/", file);
        require(
            vm.exists(configPath),
            string.concat(
                configPath, " does not exist. Copy another network's file and fill it in, or set DEPLOY_CONFIG."
            )
        );
        _config = vm.readFile(configPath);
        _requireChain(configPath, _config);
        if (!vm.exists(deploymentPath)) return;
        _deployment = vm.readFile(deploymentPath);
        _requireChain(deploymentPath, _deployment);
    }

    /// @notice Returns the address at a path of the deployments file; zero if there is none, or no contract at it.
    function _deployedAt(string memory path) internal view returns (address deployed) {
        if (bytes(_deployment).length == 0 || !_deployment.keyExists(path)) return address(0);
        deployed = _deployment.readAddress(path);
        // Without code, an earlier run wrote the file, but its transaction was not mined. This run may use its nonce.
        if (deployed.code.length == 0 || _isNew[deployed]) return address(0);
    }

    /// @notice Returns the keys that the deployments file lists for a dataset.
    function _listedKeys(string memory dataset) internal view returns (string[] memory) {
        return _deployment.readStringArray(string.concat(".datasets.", dataset, ".keys"));
    }

    /// @notice Notes what the deployments file says at a path when the script's transactions have succeeded.
    function _list(string memory path, string memory json) internal {
        _list(path, json, address(0));
    }

    /// @notice Notes what the deployments file says at a path when this run has created a contract.
    function _list(string memory path, string memory json, address created) internal {
        _entries.push(Entry(path, json, created));
    }

    /// @notice Writes down what the deployments file is to say. Nothing is mined yet: tools/deployment-file.js lists it
    /// when it exists. This happens last, so that a script that fails intends nothing.
    function _finish() internal {
        if (_isDryRun()) {
            console.log("This was a dry run: nothing was sent or written. Add --broadcast to send and write.");
            return;
        }
        if (_entries.length == 0) return;
        string[] memory paths = new string[](_entries.length);
        string[] memory values = new string[](_entries.length);
        string[] memory created = new string[](_entries.length);
        for (uint256 i = 0; i < _entries.length; ++i) {
            paths[i] = _entries[i].path;
            // forge's own serialization would take JSON in a text for the JSON itself.
            values[i] = vm.replace(_entries[i].json, '"', '\\"');
            created[i] = vm.toString(_entries[i].created);
        }
        string memory sender = string.concat('"sender":"', vm.toString(msg.sender), '",');
        string memory lists =
            string.concat('"paths":', _jsonOf(paths), ',"values":', _jsonOf(values), ',"created":', _jsonOf(created));
        vm.createDir(_deploymentsFolder(), true);
        vm.writeFile(
            string.concat(_deploymentsFolder(), "/", vm.toString(block.chainid), ".intended.json"),
            string.concat("{", sender, lists, "}")
        );
    }

    /// @dev The texts must need no escapes.
    function _jsonOf(string[] memory texts) internal pure returns (string memory json) {
        for (uint256 i = 0; i < texts.length; ++i) {
            json = string.concat(json, i == 0 ? '"' : ',"', texts[i], '"');
        }
        json = string.concat("[", json, "]");
    }

    function _deploymentsFolder() private view returns (string memory) {
        return _isSet("DEPLOYMENTS_DIR") ? _variable("DEPLOYMENTS_DIR") : "deployments";
    }

    function _warn(string memory sentence) internal {
        console.log("Warning: %s", sentence);
        _warnings.push(sentence);
    }

    function warnings() external view returns (string[] memory) {
        return _warnings;
    }

    // ---------------------------------------------------------------- environment variables

    /// @notice Gives a variable, and takes no more from the environment: tests share one, and run side by side.
    function give(string memory variable, string memory value) external {
        _isGiven = true;
        _given[variable] = value;
    }

    /// @dev Returns an environment variable; empty if it is not set.
    function _variable(string memory variable) internal view returns (string memory) {
        return _isGiven ? _given[variable] : vm.envOr(variable, string(""));
    }

    function _isSet(string memory variable) internal view returns (bool) {
        return bytes(_variable(variable)).length > 0;
    }

    /// @dev Reverts with a sentence if a variable is missing or empty. forge's error would name it only.
    /// @param meaning What the variable is, for people.
    function _requireSet(string memory variable, string memory meaning) internal view {
        require(_isSet(variable), string.concat(variable, " is not set. Set it to ", meaning, "."));
    }

    function _uintVariable(string memory variable) internal view returns (uint256) {
        try vm.parseUint(_variable(variable)) returns (uint256 number) {
            return number;
        } catch {
            revert(_unreadable(variable, "a whole number"));
        }
    }

    function _intVariable(string memory variable) internal view returns (int256) {
        try vm.parseInt(_variable(variable)) returns (int256 number) {
            return number;
        } catch {
            revert(_unreadable(variable, "a whole number"));
        }
    }

    function _addressVariable(string memory variable) internal view returns (address) {
        return _addressVariables(variable)[0];
    }

    /// @dev Returns the addresses in a variable, separated by commas.
    function _addressVariables(string memory variable) internal view returns (address[] memory addresses) {
        string[] memory texts = vm.split(_variable(variable), ",");
        addresses = new address[](texts.length);
        for (uint256 i = 0; i < texts.length; ++i) {
            try vm.parseAddress(vm.trim(texts[i])) returns (address parsed) {
                addresses[i] = parsed;
            } catch {
                revert(_unreadable(variable, "an address"));
            }
        }
    }

    function _unreadable(string memory variable, string memory kind) private view returns (string memory) {
        return string.concat(variable, " is ", _variable(variable), ", which is not ", kind, ". Correct it.");
    }

    function _contains(string[] memory keys, string memory key) internal pure returns (bool) {
        for (uint256 i = 0; i < keys.length; ++i) {
            if (keccak256(bytes(keys[i])) == keccak256(bytes(key))) return true;
        }
        return false;
    }

    function _isDryRun() internal view returns (bool) {
        return vm.isContext(VmSafe.ForgeContext.ScriptDryRun);
    }

    // ---------------------------------------------------------------- deployment

    /// @dev A contract that a script creates with `new` is compiled together with the script, and the optimizer's
    /// result depends on that. This is the code that the tests run, and that block explorers get from the sources.
    function _compiled(string memory name) internal view returns (bytes memory code) {
        try vm.getCode(string.concat(name, ".sol:", name)) returns (bytes memory found) {
            code = found;
        } catch {
            revert(string.concat(name, " is not compiled. Run this first: npm run forge -- build src"));
        }
    }

    /// @dev Reverts with the constructor's error.
    function _create(bytes memory code) internal returns (address created) {
        assembly ("memory-safe") {
            created := create(0, add(code, 0x20), mload(code))
            if and(iszero(created), gt(returndatasize(), 0)) {
                let error := mload(0x40)
                returndatacopy(error, 0, returndatasize())
                revert(error, returndatasize())
            }
        }
        require(created != address(0), "The constructor reverted without an error. Run forge with -vvvv to see where.");
        _isNew[created] = true;
    }

    // ---------------------------------------------------------------- the settings of one dataset

    function _uintSetting(string memory dataset, string memory field) internal view returns (uint256) {
        return _config.readUint(_setting(dataset, field));
    }

    function _keysSetting(string memory dataset) internal view returns (string[] memory) {
        return _config.readStringArray(_setting(dataset, "keys"));
    }

    function _ownerSetting(string memory dataset) internal view returns (address owner) {
        owner = _config.readAddress(_setting(dataset, "owner"));
        _check(owner != address(0), dataset, "owner is the zero address. Fill it in.");
    }

    function _committeeSetting(string memory dataset)
        internal
        view
        returns (address[] memory members, uint256 toleranceBps)
    {
        members = _config.readAddressArray(_setting(dataset, "members"));
        uint256 size = members.length;
        _check(size > 0 && size <= CommitteeLibrary.MAX_MEMBERS, dataset, "members must be 1 to 255 addresses.");
        address previous = address(0);
        for (uint256 i = 0; i < size; ++i) {
            _check(members[i] != address(0), dataset, "members has the zero address. Fill it in.");
            string memory place = string.concat(vm.toString(members[i]), " after ", vm.toString(previous));
            _check(
                members[i] > previous,
                dataset,
                string.concat("members has ", place, ". Sort them ascending, each one once.")
            );
            previous = members[i];
        }
        toleranceBps = _uintSetting(dataset, "toleranceBps");
        _check(
            toleranceBps <= CommitteeLibrary.MAX_TOLERANCE_BPS, dataset, "toleranceBps is over 10000, which is 100 %."
        );
    }

    /// @dev Reverts with a sentence that names the file, the dataset and the setting.
    function _check(bool isGood, string memory dataset, string memory problem) internal view {
        require(isGood, string.concat(configPath, ": ", dataset, ".", problem));
    }

    function _setting(string memory dataset, string memory field) private view returns (string memory path) {
        path = string.concat(".", dataset, ".", field);
        _check(_config.keyExists(path), dataset, string.concat(field, " is missing. Add it."));
    }

    function _requireChain(string memory path, string memory json) private view {
        require(json.keyExists(".chainId"), string.concat(path, ": chainId is missing. Add it."));
        string memory named = vm.toString(json.readUint(".chainId"));
        string memory connected = vm.toString(block.chainid);
        require(
            keccak256(bytes(named)) == keccak256(bytes(connected)),
            string.concat(
                path, " is for chain ", named, ", but the RPC is on chain ", connected, ". Correct one of them."
            )
        );
    }
}
