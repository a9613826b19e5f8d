// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

interface Vm {
    function deal(address account, uint256 balance) external;
    function getCode(string calldata path) external view returns (bytes memory);
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

/// @notice Creates contracts from the artifacts of the repository's own build: the code that is deployed.
library Deployed {
    function create(string memory name, bytes memory arguments) internal returns (address created) {
        bytes memory code = bytes.concat(vm.getCode(string.concat("out/", name, ".sol/", name, ".json")), arguments);
        assembly ("memory-safe") {
            created := create(0, add(code, 0x20), mload(code))
        }
        assert(created != address(0));
    }
}
