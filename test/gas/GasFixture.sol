// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {Batch} from "../utils/UpdateArguments.sol";

/// @notice Measures whole transactions. With RECORD_GAS=true each is also recorded with the state before it, so that
/// another node can be checked against the same number.
abstract contract GasFixture is DatasetFixture {
    string private constant FOLDER = ".devnet/gas/";

    /// @notice Sends a transaction, and records its gas as a snapshot.
    function measure(string memory group, string memory name, address to, bytes memory data)
        internal
        returns (uint256 used)
    {
        record(name, to, data);
        (bool done, bytes memory answer) = to.call(data);
        used = vm.snapshotGasLastCall(group, name);
        assertTrue(done, vm.toString(answer));
    }

    /// @notice Returns keys that the dataset knows.
    function announced(IDataset target, uint256 count) internal returns (bytes[] memory keys) {
        keys = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            keys[i] = abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD");
            target.announce(keys[i]);
        }
    }

    /// @notice Returns a batch that the committee's first `signers` members signed.
    function batchOf(Providers committee, IDataset target, bytes[] memory keys, uint256 timestamp, uint256 signers)
        internal
        view
        returns (Batch memory)
    {
        bytes32[][] memory rows = new bytes32[][](signers);
        for (uint256 row = 0; row < signers; ++row) {
            rows[row] = new bytes32[](keys.length);
            uint256[] memory values = valuesNear3000(keys.length, timestamp * 100 + row);
            for (uint256 i = 0; i < keys.length; ++i) {
                rows[row][i] = bytes32(values[i]);
            }
        }
        return committee.reportMany(target, keys, timestamp, rows, new uint256[](signers));
    }

    /// @notice Records a transaction, if RECORD_GAS is set.
    function record(string memory name, address to, bytes memory data) internal {
        if (!vm.envOr("RECORD_GAS", false)) return;
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
