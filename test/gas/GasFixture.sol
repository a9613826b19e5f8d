// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetFixture} from "../utils/DatasetFixture.sol";

/// @notice Measures whole transactions. With RECORD_GAS=true each is also recorded with the state before it, so that
/// another node can be checked against the same number.
abstract contract GasFixture is DatasetFixture {
    string private constant FOLDER = ".devnet/gas/";

    /// @notice Sends a transaction and records its gas as a snapshot.
    function measure(string memory group, string memory name, address to, bytes memory data) internal {
        if (vm.envOr("RECORD_GAS", false)) _record(name, to, data);
        (bool done, bytes memory answer) = to.call(data);
        vm.snapshotGasLastCall(group, name);
        assertTrue(done, vm.toString(answer));
    }

    function _record(string memory name, address to, bytes memory data) private {
        vm.createDir(FOLDER, true);
        string memory path = string.concat(FOLDER, vm.replace(name, ",", ""));
        vm.dumpState(string.concat(path, ".state.json"));
        string memory object = "transaction";
        vm.serializeAddress(object, "to", to);
        vm.serializeBytes(object, "data", data);
        vm.serializeString(object, "name", name);
        vm.writeJson(vm.serializeUint(object, "timestamp", vm.getBlockTimestamp()), string.concat(path, ".json"));
    }
}
