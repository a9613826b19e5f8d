// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {NetworkScript} from "../../script/base/NetworkScript.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";

/// @notice Signs what a script broadcasts. A prank would not do: the scripts' own broadcasts do not go together with it.
contract Signer {
    receive() external payable {}

    function run(address script, bytes memory call) external {
        (bool isDone, bytes memory reason) = script.call(call);
        if (isDone) return;
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }
}

/// @notice Runs scripts as forge does, with files of the test's own.
abstract contract ScriptFixture is Test {
    uint256 internal constant CHAIN_ID = 42;
    uint256 internal constant START = 1_790_000_000;

    Signer internal owner;
    Signer internal outsider;
    address[] internal members;
    string internal folder;
    string internal settingsFile;
    string internal deploymentFile;

    function setUp() public {
        vm.chainId(CHAIN_ID);
        vm.warp(START);
    }

    /// @dev Tells forge to give each test its own folder, because tests run side by side.
    function beforeTestSetup(bytes4 selector) public view returns (bytes[] memory calls) {
        calls = new bytes[](1);
        calls[0] = abi.encodeCall(this.prepare, (selector));
    }

    function prepare(bytes4 selector) public virtual {
        folder = string.concat(".devnet/script-tests/", vm.toString(abi.encodePacked(selector)));
        if (vm.exists(folder)) vm.removeDir(folder, true);
        vm.createDir(folder, true);
        settingsFile = string.concat(folder, "/settings.json");
        deploymentFile = string.concat(folder, "/42.json");
        vm.copyFile("script/config/42.json", settingsFile);
        (owner, outsider) = (new Signer(), new Signer());
        members = vm.parseJsonAddressArray(vm.readFile(settingsFile), ".financial.members");
        string[3] memory datasets = ["financial", "webOracleNumber", "webOracleBytes"];
        for (uint256 i = 0; i < datasets.length; ++i) {
            configure(string.concat(datasets[i], ".owner"), vm.toString(address(owner)));
        }
    }

    /// @notice Changes a setting: `value` is a text, or JSON of another kind.
    function configure(string memory path, string memory value) internal {
        vm.writeJson(value, settingsFile, string.concat(".", path));
    }

    function configure(string memory path, address[] memory accounts) internal {
        string memory json = "[";
        for (uint256 i = 0; i < accounts.length; ++i) {
            json = string.concat(json, i == 0 ? '"' : ',"', vm.toString(accounts[i]), '"');
        }
        configure(path, string.concat(json, "]"));
    }

    /// @notice Gives a new script the test's files.
    function prepared(NetworkScript script) internal {
        script.give("DEPLOY_CONFIG", settingsFile);
        script.give("DEPLOYMENTS_DIR", folder);
        script.give("DATASET", "financial");
    }

    function run(NetworkScript script) internal {
        runAs(owner, script);
    }

    function runAs(Signer signer, NetworkScript script) internal {
        prepared(script);
        signer.run(address(script), abi.encodeWithSignature("run()"));
        list();
    }

    /// @dev Lists what a script intends, as tools/deployment-file.js does after forge: here everything is mined at once.
    function list() internal {
        string memory intendedFile = string.concat(folder, "/42.intended.json");
        if (!vm.exists(intendedFile)) return;
        string memory intended = vm.readFile(intendedFile);
        vm.removeFile(intendedFile);
        string[] memory paths = vm.parseJsonStringArray(intended, ".paths");
        string[] memory values = vm.parseJsonStringArray(intended, ".values");
        address[] memory created = vm.parseJsonAddressArray(intended, ".created");
        if (!vm.exists(deploymentFile)) vm.writeFile(deploymentFile, '{"chainId":42,"datasets":{}}');
        for (uint256 i = 0; i < paths.length; ++i) {
            assertTrue(created[i] == address(0) || created[i].code.length > 0);
            vm.writeJson(values[i], deploymentFile, paths[i]);
        }
    }

    /// @notice Asserts that a script ends with a sentence, and writes nothing.
    function refuses(NetworkScript script, string memory sentence) internal {
        refusesFor(owner, script, sentence);
    }

    function refusesFor(Signer signer, NetworkScript script, string memory sentence) internal {
        prepared(script);
        string memory before = deployments();
        vm.expectRevert(bytes(sentence));
        signer.run(address(script), abi.encodeWithSignature("run()"));
        assertEq(deployments(), before);
    }

    /// @notice Returns the deployments file; nothing if there is none.
    function deployments() internal view returns (string memory) {
        return vm.exists(deploymentFile) ? vm.readFile(deploymentFile) : "";
    }

    function deployed(string memory path) internal view returns (address) {
        return vm.parseJsonAddress(deployments(), string.concat(".", path));
    }

    function deployedDataset(string memory name) internal view returns (IDataset) {
        return IDataset(deployed(string.concat("datasets.", name, ".address")));
    }
}
