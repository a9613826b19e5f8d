// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle, OracleProtocol, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";

/// @title SpotPriceConsumer
/// @notice Keeps the rate of ETH in US dollars, never one older than ten minutes when it was read.
contract SpotPriceConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    /// @notice A rate was read, scaled by 1e18.
    event RateRead(uint256 rate);

    /// @notice The dataset that is asked.
    Oracle public immutable oracle;

    /// @notice The rate that was read last, scaled by 1e18; 0 before the first.
    uint256 public rate;

    /// @dev Ether sent here pays for queries.
    constructor(Oracle oracle_) payable {
        oracle = oracle_;
    }

    receive() external payable {}

    /// @notice Reads the rate anew, and pays for it out of this contract's balance.
    /// @dev Open to anyone, to keep the example short: in your contract, mind who may spend its Ether.
    function refresh() external {
        rate = oracle.querySpotPriceWithExpiry("ETH-USD", 10 minutes);
        emit RateRead(rate);
    }
}
