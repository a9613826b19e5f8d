// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle, OracleProtocol} from "../../src/usingOracleProtocol.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Update} from "../utils/UpdateArguments.sol";
import {SpotPriceConsumer} from "./SpotPriceConsumer.sol";

contract SpotPriceConsumerTest is DatasetFixture {
    SpotPriceConsumer private consumer;

    function setUp() public override {
        super.setUp();
        consumer = new SpotPriceConsumer{value: 2 * PRICE}(dataset);
    }

    function test_refresh_readsStoresAndEmits() public {
        Update memory update = validUpdate();
        update.send(dataset);
        vm.expectEmit(address(consumer));
        emit SpotPriceConsumer.PriceRead(uint256(update.value));
        consumer.refresh();
        assertEq(consumer.price(), uint256(update.value));
    }

    function test_refreshWith_storesTheUpdateAndReadsIt() public {
        Update memory update = validUpdate();
        vm.expectEmit(address(consumer));
        emit SpotPriceConsumer.PriceRead(uint256(update.value));
        consumer.refreshWith(update.pack());
        assertEq(consumer.price(), uint256(update.value));
        assertEq(address(consumer).balance, PRICE);
    }

    function test_refreshWith_readsWhatAnotherSenderStored() public {
        Update memory update = validUpdate();
        update.send(dataset);
        consumer.refreshWith(update.pack());
        assertEq(consumer.price(), uint256(update.value));
    }

    function test_receive_acceptsEtherForMoreQueries() public {
        (bool taken,) = address(consumer).call{value: 1 ether}("");
        assertTrue(taken);
        assertEq(address(consumer).balance, 1 ether + 2 * PRICE);
    }

    /// An update submitted by anyone makes a stale data point fresh.
    function test_refresh_RevertWhen_thePriceIsOlderThanTenMinutes() public {
        validUpdate().send(dataset);
        vm.warp(START + 10 minutes);
        consumer.refresh();
        vm.warp(START + 10 minutes + 1);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 601, 600));
        consumer.refresh();

        Update memory update = validUpdate();
        vm.prank(makeAddr("anyone"));
        update.send(dataset);
        consumer.refresh();
        assertEq(consumer.price(), uint256(update.value));
    }

    function test_refresh_RevertWhen_thereIsNoRate() public {
        vm.expectRevert(
            abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.NOT_AVAILABLE)
        );
        consumer.refresh();
    }
}
