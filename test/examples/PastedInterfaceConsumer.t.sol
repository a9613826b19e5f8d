// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Update} from "../utils/UpdateArguments.sol";
import {Oracle, PastedInterfaceConsumer} from "./PastedInterfaceConsumer.sol";

/// @notice Tests a contract that pastes the interface, with this compiler. `tools/test/solc-versions.test.ts` compiles
/// it with others.
contract PastedInterfaceConsumerTest is DatasetFixture {
    PastedInterfaceConsumer private reader;
    Oracle private oracle;

    function setUp() public override {
        super.setUp();
        reader = new PastedInterfaceConsumer();
        oracle = Oracle(address(dataset));
    }

    function test_read_answersEveryStatus() public {
        _assertRead("", 0, 0, Oracle.QueryStatus.INVALID);
        _assertRead(KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);

        Update memory update = validUpdate();
        update.send(dataset);
        _assertRead(KEY, uint256(update.value), START, Oracle.QueryStatus.OK);

        vm.warp(START + 1);
        uint256[] memory apart = new uint256[](4);
        (apart[0], apart[1]) = (1, 2);
        providers.report(dataset, KEY, START + 1, apart).send(dataset);
        _assertRead(KEY, 0, START + 1, Oracle.QueryStatus.DISAGREEMENT);
    }

    function test_read_RevertWhen_notPaidFor() public {
        vm.expectRevert(bytes("")); // The reader cannot pay: no dataset is reached.
        reader.read(oracle, KEY);
    }

    function _assertRead(bytes memory key, uint256 value, uint256 updatedAt, Oracle.QueryStatus status) private {
        (uint256 value_, uint256 updatedAt_, Oracle.QueryStatus status_) = reader.read{value: PRICE}(oracle, key);
        assertEq(value_, value);
        assertEq(updatedAt_, updatedAt);
        assertEq(uint256(status_), uint256(status));
    }
}
