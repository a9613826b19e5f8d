// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

/// @notice Reads the vectors in protocol/vectors, which the TypeScript tests use too.
abstract contract VectorFixture is Test {
    string private _json;
    string private _list;

    function load(string memory file, string memory list) internal {
        _json = vm.readFile(string.concat("protocol/vectors/", file, ".json"));
        _list = list;
    }

    function count() internal view returns (uint256 items) {
        while (vm.keyExistsJson(_json, _item(items))) ++items;
        assertGt(items, 0, "the list is empty");
    }

    function has(uint256 index, string memory field) internal view returns (bool) {
        return vm.keyExistsJson(_json, _path(index, field));
    }

    function text(uint256 index, string memory field) internal view returns (string memory) {
        return vm.parseJsonString(_json, _path(index, field));
    }

    function hexBytes(uint256 index, string memory field) internal view returns (bytes memory) {
        return vm.parseJsonBytes(_json, _path(index, field));
    }

    function hexBytesArray(uint256 index, string memory field) internal view returns (bytes[] memory) {
        return vm.parseJsonBytesArray(_json, _path(index, field));
    }

    function words(uint256 index, string memory field) internal view returns (bytes32[] memory) {
        return vm.parseJsonBytes32Array(_json, _path(index, field));
    }

    function word(uint256 index, string memory field) internal view returns (bytes32) {
        return vm.parseJsonBytes32(_json, _path(index, field));
    }

    function number(uint256 index, string memory field) internal view returns (uint256) {
        return vm.parseJsonUint(_json, _path(index, field));
    }

    function flag(uint256 index, string memory field) internal view returns (bool) {
        return vm.parseJsonBool(_json, _path(index, field));
    }

    function account(uint256 index, string memory field) internal view returns (address) {
        return vm.parseJsonAddress(_json, _path(index, field));
    }

    function accounts(uint256 index, string memory field) internal view returns (address[] memory) {
        return vm.parseJsonAddressArray(_json, _path(index, field));
    }

    function _item(uint256 index) private view returns (string memory) {
        return string.concat(".", _list, "[", vm.toString(index), "]");
    }

    function _path(uint256 index, string memory field) private view returns (string memory) {
        return string.concat(_item(index), ".", field);
    }
}
