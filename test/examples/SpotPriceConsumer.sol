// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../../src/Oracle.sol";
import {OracleProtocol, usingOracleProtocol} from "../../src/usingOracleProtocol.sol";

/// @title SpotPriceConsumer
/// @notice An example to copy: keeps the rate of ETH in USD, never older than ten minutes when it was read. Every
/// `refresh` pays the query price out of this contract's own balance.
contract SpotPriceConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    uint256 private constant MAX_AGE = 10 minutes;

    Oracle public immutable oracle;

    /// @notice USD for one ETH, scaled by 1e18.
    uint256 public rate;

    event RateRefreshed(uint256 rate);

    constructor(Oracle oracle_) payable {
        oracle = oracle_;
    }

    /// @notice Lets anyone add to what the queries are paid from.
    receive() external payable {}

    /// @notice Reads the rate. Reverts when it is not OK, is too old, or cannot be paid.
    function refresh() external {
        rate = oracle.querySpotPriceWithExpiry("ETH-USD", MAX_AGE);
        emit RateRefreshed(rate);
    }
}
