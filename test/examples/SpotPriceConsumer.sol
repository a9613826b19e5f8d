// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle, OracleProtocol, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";

/// @title SpotPriceConsumer
/// @notice Stores the rate of ETH in US dollars. It reads no rate that is older than ten minutes.
contract SpotPriceConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    /// @notice A rate was read, scaled by 1e18.
    event RateRead(uint256 rate);

    /// @notice The dataset that is queried.
    Oracle public immutable oracle;

    /// @notice The last rate that was read, scaled by 1e18; 0 before the first read.
    uint256 public rate;

    /// @dev Ether sent to this contract pays for queries.
    constructor(Oracle oracle_) payable {
        oracle = oracle_;
    }

    receive() external payable {}

    /// @notice Reads the current rate and pays for it out of this contract's balance.
    /// @dev Anyone may call this, to keep the example short. In your contract, restrict who may spend its Ether.
    function refresh() external {
        rate = oracle.querySpotPriceWithExpiry("ETH-USD", 10 minutes);
        emit RateRead(rate);
    }

    /// @notice Stores an update that the caller brings, and reads the rate in the same transaction.
    /// @param update The bytes that an operator returns with `"broadcast": false`, or none. Anyone may bring them.
    function refreshWith(bytes calldata update) external {
        rate = oracle.updateAndQuerySpotPrice("ETH-USD", update, 1 minutes);
        emit RateRead(rate);
    }
}
