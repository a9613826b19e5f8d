// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";

interface IQueryingConsumer {
    function read(Oracle oracle, bytes calldata key, uint256 argument, bool isQuerying) external;
}

/// @notice Measures the gas that one query adds to a consumer's transaction, with cold storage.
/// forge-config: default.isolate = true
contract QueryGasTest is DatasetFixture {
    function test_query_free() public {
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
        _snapshot("query, price 0", 0);
    }

    function test_query_paid() public {
        _snapshot("query, paid", PRICE);
    }

    function test_querySpotPriceWithExpiry_free() public {
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
        _snapshotHelper("querySpotPriceWithExpiry, price 0");
    }

    function test_querySpotPriceWithExpiry_paid() public {
        _snapshotHelper("querySpotPriceWithExpiry, paid");
    }

    /// @dev Measures the helper as `_snapshot` measures the bare query.
    function _snapshotHelper(string memory name) private {
        providers.report(dataset, KEY, START, valuesNear3000(3, 1)).send(dataset);
        IQueryingConsumer consumer = _deploy("HelpedConsumer");
        consumer.read(dataset, KEY, 10 minutes, true);
        consumer.read(dataset, KEY, 10 minutes, false);
        uint256 without = vm.lastCallGas().gasTotalUsed;
        consumer.read(dataset, KEY, 10 minutes, true);
        vm.snapshotValue("query", name, vm.lastCallGas().gasTotalUsed - without);
    }

    function _deploy(string memory name) private returns (IQueryingConsumer) {
        return IQueryingConsumer(deployCode(string.concat("Consumers.sol:", name), "", 1 ether));
    }

    function _snapshot(string memory name, uint256 price) private {
        providers.report(dataset, KEY, START, valuesNear3000(3, 1)).send(dataset);
        IQueryingConsumer consumer = _deploy("QueryingConsumer");
        // The first payment is more expensive because the dataset's balance is still zero.
        consumer.read(dataset, KEY, price, true);
        consumer.read(dataset, KEY, price, false);
        uint256 without = vm.lastCallGas().gasTotalUsed;
        consumer.read(dataset, KEY, price, true);
        vm.snapshotValue("query", name, vm.lastCallGas().gasTotalUsed - without);
    }
}
