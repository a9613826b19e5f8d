// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

/// @notice Deploys a contract and forwards the constructor's error, which `deployCode` would swallow.
contract RevertForwardingDeployer {
    function deploy(bytes memory code) external returns (address deployed) {
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
