// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {IWebOracleRegistry} from "../src/interfaces/IWebOracleRegistry.sol";

contract WebOracleRegistryTest is Test {
    uint256 private constant MAX_LENGTH = 8_192;

    IWebOracleRegistry private registry;

    function setUp() public {
        registry = IWebOracleRegistry(deployCode("WebOracleRegistry.sol:WebOracleRegistry"));
        vm.roll(1_000);
    }

    function testFuzz_publish_emitsTheBytesAndKeepsTheBlock(uint256 length, uint64 blockNumber, address caller) public {
        vm.assume(caller != address(vm));
        bytes memory spec = new bytes(bound(length, 1, MAX_LENGTH));
        vm.roll(bound(blockNumber, 1, type(uint64).max));
        vm.expectEmit(address(registry));
        emit IWebOracleRegistry.SpecPublished(keccak256(spec), spec);
        vm.prank(caller);
        assertEq(registry.publish(spec), keccak256(spec));
        assertEq(registry.publishedAt(keccak256(spec)), vm.getBlockNumber());
    }

    function test_publish_RevertWhen_theSpecIsEmpty() public {
        vm.expectRevert(abi.encodeWithSelector(IWebOracleRegistry.WrongSpecLength.selector, 0, MAX_LENGTH));
        registry.publish("");
        assertEq(registry.publishedAt(keccak256("")), 0);
    }

    function testFuzz_publish_RevertWhen_itIsTooLong(uint256 length) public {
        _refuse(bound(length, MAX_LENGTH + 1, 3 * MAX_LENGTH));
    }

    function test_publish_movesTheBlockWhenRepeated() public {
        registry.publish("{}");
        vm.roll(2_000);
        vm.expectEmit(address(registry));
        emit IWebOracleRegistry.SpecPublished(keccak256("{}"), "{}");
        registry.publish("{}");
        assertEq(registry.publishedAt(keccak256("{}")), 2_000);
    }

    function _refuse(uint256 length) private {
        bytes memory spec = new bytes(length);
        vm.expectRevert(abi.encodeWithSelector(IWebOracleRegistry.WrongSpecLength.selector, length, MAX_LENGTH));
        registry.publish(spec);
        assertEq(registry.publishedAt(keccak256(spec)), 0);
    }
}
