// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {DatasetSettings} from "../../src/interfaces/IDataset.sol";

/// @notice Deploys a dataset and forwards the constructor's error, which `deployCode` would swallow.
contract RevertForwardingDeployer {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function deploy(DatasetSettings calldata settings_) external returns (address deployed) {
        bytes memory code = bytes.concat(VM.getCode("MedianDataset.sol:MedianDataset"), abi.encode(settings_));
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
            if iszero(deployed) {
                let reason := mload(0x40)
                returndatacopy(reason, 0, returndatasize())
                revert(reason, returndatasize())
            }
        }
    }
}
