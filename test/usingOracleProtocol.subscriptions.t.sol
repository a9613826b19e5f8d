// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle, OracleProtocol} from "../src/usingOracleProtocol.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {OracleStub} from "./utils/OracleStub.sol";
import {SubscribedConsumer} from "./utils/SubscribedConsumer.sol";
import {Update} from "./utils/UpdateArguments.sol";

/// @notice Tests the helpers that read by subscription, against a dataset as it is deployed. Each test covers all three.
contract UsingOracleProtocolSubscriptionsTest is DatasetFixture {
    SubscribedConsumer private consumer;

    function setUp() public override {
        super.setUp();
        consumer = new SubscribedConsumer();
        (uint256 price,,) = dataset.costOfSubscription();
        vm.deal(address(this), price);
        dataset.subscribe{value: price}(address(consumer), 1);
    }

    function testFuzz_read_answersWhatIsStoredUpToTheMaximumAge(uint256 age, uint256 maxAge) public {
        (age, maxAge) = (bound(age, 0, 30 days), bound(maxAge, 0, 30 days));
        Update memory stored = validUpdate();
        stored.send(dataset);
        vm.warp(START + age);
        bytes memory expired = abi.encodeWithSelector(OracleProtocol.DataExpired.selector, age, maxAge);
        for (uint256 helper = 0; helper < 3; ++helper) {
            if (age > maxAge) vm.expectRevert(expired);
            uint256 value = consumer.read(helper, dataset, maxAge);
            if (age <= maxAge) assertEq(value, uint256(stored.value));
        }
    }

    function test_read_RevertWhen_theReaderIsNotSubscribed() public {
        validUpdate().send(dataset);
        (uint256 price, uint256 period,) = dataset.costOfSubscription();
        consumer = new SubscribedConsumer();
        bytes memory reason =
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, address(consumer), price, period);
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.read(helper, dataset, 1);
        }
    }

    function test_read_RevertWhen_thereIsNoUsableValue() public {
        _assertReverts(dataset, _badStatus(Oracle.QueryStatus.NOT_AVAILABLE));
        uint256[] memory values = equal(3, 3000e18);
        (values[1], values[2]) = (4000e18, 5000e18);
        providers.report(dataset, KEY, START, values).send(dataset);
        _assertReverts(dataset, _badStatus(Oracle.QueryStatus.DISAGREEMENT));
    }

    function test_read_RevertWhen_theAccountIsNoDataset() public {
        Oracle account = Oracle(makeAddr("not an oracle"));
        _assertReverts(account, _notAnOracle(account));
        Oracle oracle = new OracleStub();
        _assertReverts(oracle, _notAnOracle(oracle));
    }

    function _assertReverts(Oracle oracle, bytes memory reason) private {
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.read(helper, oracle, type(uint256).max);
        }
    }

    function _badStatus(Oracle.QueryStatus status) private pure returns (bytes memory) {
        return abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, status);
    }

    function _notAnOracle(Oracle account) private pure returns (bytes memory) {
        return abi.encodeWithSelector(OracleProtocol.NotAnOracle.selector, account);
    }
}
