// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {OracleProtocol} from "../../src/usingOracleProtocol.sol";

// The optimizer compiles this file, as consumers are compiled whose gas matters, but not the tests that measure it.

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

/// @notice Reads a value of this very second in its own transaction.
contract UpdateBringingConsumer {
    using OracleProtocol for Oracle;

    Oracle private immutable oracle;

    constructor(Oracle oracle_) payable {
        oracle = oracle_;
    }

    function updateAndQuery(bytes calldata update) external returns (uint256) {
        return oracle.updateAndQuerySpotPrice("ETH-USD", update, 60);
    }

    function verify(bytes calldata update) external returns (uint256) {
        return oracle.verifySpotPrice("ETH-USD", update, 60);
    }
}

/// @notice A consumer that reads an adapter, or does everything except the reading.
contract ReadingConsumer {
    function read(address adapter, bytes calldata data, bool isReading) external view {
        if (!isReading) return;
        (bool isDone,) = adapter.staticcall(data);
        require(isDone);
    }
}
