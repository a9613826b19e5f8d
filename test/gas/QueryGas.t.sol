// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Oracle} from "../../src/Oracle.sol";
import {OracleProtocol} from "../../src/usingOracleProtocol.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";

/// @notice A consumer that uses more gas than the minimum that EIP-7623 charges for its calldata: below it, a part of
/// the query would cost nothing.
contract BusyConsumer {
    uint256 private _reads = 1;

    modifier busy() {
        ++_reads;
        _;
    }
}

/// @notice A consumer that queries, or does everything except the query.
contract QueryingConsumer is BusyConsumer {
    constructor() payable {}

    function read(Oracle oracle, bytes calldata key, uint256 price, bool isQuerying) external busy {
        if (isQuerying) oracle.query{value: price}(key);
    }
}

/// @notice Does the same with a helper, and takes as much calldata.
contract HelpedConsumer is BusyConsumer {
    using OracleProtocol for Oracle;

    constructor() payable {}

    function read(Oracle oracle, bytes calldata, uint256 maxAge, bool isQuerying) external busy {
        if (isQuerying) oracle.querySpotPriceWithExpiry("ETH-USD", maxAge);
    }
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
        HelpedConsumer consumer = new HelpedConsumer{value: 1 ether}();
        consumer.read(dataset, KEY, 10 minutes, true);
        consumer.read(dataset, KEY, 10 minutes, false);
        uint256 without = vm.lastCallGas().gasTotalUsed;
        consumer.read(dataset, KEY, 10 minutes, true);
        vm.snapshotValue("query", name, vm.lastCallGas().gasTotalUsed - without);
    }

    function _snapshot(string memory name, uint256 price) private {
        providers.report(dataset, KEY, START, valuesNear3000(3, 1)).send(dataset);
        QueryingConsumer consumer = new QueryingConsumer{value: 1 ether}();
        // The first payment is more expensive because the dataset's balance is still zero.
        consumer.read(dataset, KEY, price, true);
        consumer.read(dataset, KEY, price, false);
        uint256 without = vm.lastCallGas().gasTotalUsed;
        consumer.read(dataset, KEY, price, true);
        vm.snapshotValue("query", name, vm.lastCallGas().gasTotalUsed - without);
    }
}
