// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {MockOracle} from "../../src/mocks/MockOracle.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";

/// @notice A MockOracle sells subscriptions and answers reads as a dataset does, and so serves adapters.
contract MockOracleReadingTest is DatasetFixture {
    MockOracle private oracle;

    function setUp() public override {
        super.setUp();
        oracle = new MockOracle();
        oracle.setSpotPrice("ETH-USD", 3000e18);
        providers.report(dataset, KEY, START, equal(3, 3000e18)).send(dataset);
    }

    /// Two calls each, so that the second one extends what the first one bought.
    function testFuzz_subscribe_doesWhatADatasetDoes(uint8[2] memory periods, bool[2] memory isExact, uint32 pause)
        public
    {
        oracle.setSubscriptionPrice(SUBSCRIPTION_PRICE);
        address reader = makeAddr("reader");
        for (uint256 i = 0; i < 2; ++i) {
            uint256 cost = periods[i] * SUBSCRIPTION_PRICE + (isExact[i] ? 0 : 1);
            _assertSame(abi.encodeCall(IDataset.subscribe, (reader, periods[i])), cost);
            assertEq(oracle.subscribedUntil(reader), dataset.subscribedUntil(reader));
            skip(pause);
        }
    }

    function testFuzz_read_isFreeForWhomADatasetIs(uint64 price, bool isSubscribed, uint32 pause, bool hasSender)
        public
    {
        price = uint64(bound(price, 0, PRICE));
        oracle.setQueryPrice(price);
        oracle.setSubscriptionPrice(SUBSCRIPTION_PRICE);
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
        if (isSubscribed) {
            oracle.subscribe{value: SUBSCRIPTION_PRICE}(address(this), 1);
            dataset.subscribe{value: SUBSCRIPTION_PRICE}(address(this), 1);
        }
        skip(bound(pause, 0, 60 days));
        bytes memory call = abi.encodeCall(IDataset.read, (KEY));
        if (!hasSender) vm.startPrank(address(this), address(0));
        _assertSame(call, 0);
        // A verification costs a query, or nothing where a read does.
        (bool isRead,) = address(oracle).staticcall(call);
        bytes memory update = oracle.spotPriceUpdate("ETH-USD", 3000e18, 0);
        (bool isVerified,) = address(oracle).call(abi.encodeCall(IDataset.verify, (update)));
        assertEq(isVerified, isRead);
    }

    /// @dev Calls the mock and the dataset alike.
    function _assertSame(bytes memory call, uint256 value) private {
        (bool isDone, bytes memory answer) = address(oracle).call{value: value}(call);
        (bool isDoneByDataset, bytes memory expected) = address(dataset).call{value: value}(call);
        assertEq(isDone, isDoneByDataset);
        assertEq(answer, expected);
    }
}
