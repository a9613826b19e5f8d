// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {MockOracle} from "../../src/mocks/MockOracle.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";

interface IQueryLens {
    struct Answer {
        bytes32 output;
        uint256 updatedAt;
        Oracle.QueryStatus status;
    }

    function queryMany(Oracle dataset, bytes[] calldata keys) external returns (Answer[] memory answers);
}

contract QueryLensTest is DatasetFixture {
    /// @dev Its code is etched, as the state override of an `eth_call` does it.
    IQueryLens private lens = IQueryLens(makeAddr("unowned"));

    function setUp() public override {
        super.setUp();
        vm.etch(address(lens), vm.getDeployedCode("QueryLens.sol:QueryLens"));
    }

    function testFuzz_queryMany_answersEveryKeyInOrder(uint256 count, uint96 price, uint256 seed) public {
        count = bound(count, 0, 40);
        MockOracle oracle = new MockOracle();
        oracle.setQueryPrice(price);
        bytes[] memory keys = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            keys[i] = abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD");
            (bytes32 output, uint256 age, Oracle.QueryStatus status) = expected(seed, i);
            oracle.setAnswer(keys[i], output, age, status);
        }
        vm.deal(address(lens), uint256(price) * count);

        IQueryLens.Answer[] memory answers = lens.queryMany(oracle, keys);

        assertEq(answers.length, count);
        for (uint256 i = 0; i < count; ++i) {
            (bytes32 output, uint256 age, Oracle.QueryStatus status) = expected(seed, i);
            assertEq(answers[i].output, output);
            assertEq(answers[i].updatedAt, START - age);
            assertEq(uint8(answers[i].status), uint8(status));
        }
    }

    function test_queryMany_RevertWhen_theBalanceDoesNotPayForAll() public {
        bytes[] memory keys = new bytes[](2);
        (keys[0], keys[1]) = (KEY, KEY);
        vm.deal(address(lens), 2 * PRICE - 1);
        vm.expectRevert(bytes(""));
        lens.queryMany(dataset, keys);
    }

    function test_queryMany_RevertWhen_aQueryReverts() public {
        bytes[] memory keys = new bytes[](1);
        bytes memory reason = abi.encodeWithSelector(MockOracle.WrongPayment.selector, PRICE, PRICE + 1);
        vm.deal(address(lens), PRICE);
        vm.mockCallRevert(address(dataset), abi.encodeCall(Oracle.query, (keys[0])), reason);
        vm.expectRevert(reason);
        lens.queryMany(dataset, keys);
    }

    function expected(uint256 seed, uint256 i)
        private
        pure
        returns (bytes32 output, uint256 age, Oracle.QueryStatus status)
    {
        output = keccak256(abi.encode(seed, i));
        age = uint256(output) % 1 days;
        status = Oracle.QueryStatus(uint256(output) % 4);
        if (status != Oracle.QueryStatus.OK) output = 0;
    }
}
