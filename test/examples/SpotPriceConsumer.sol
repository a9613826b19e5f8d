// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle, OracleProtocol, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";

/// @title SpotPriceConsumer
/// @notice Stores the price of ETH in US dollars. It reads no price that is older than ten minutes.
contract SpotPriceConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    /// @notice A price was read, scaled by 1e18.
    event PriceRead(uint256 price);

    /// @notice The dataset that is queried.
    Oracle public immutable oracle;

    /// @notice The last price that was read, scaled by 1e18; 0 before the first read.
    uint256 public price;

    /// @dev Ether sent to this contract pays for queries.
    constructor(Oracle oracle_) payable {
        oracle = oracle_;
    }

    receive() external payable {}

    /// @notice Reads the current price and pays for it out of this contract's balance.
    /// @dev Anyone may call this, to keep the example short. In your contract, restrict who may spend its Ether.
    function refresh() external {
        price = oracle.querySpotPriceWithExpiry("ETH-USD", 10 minutes);
        emit PriceRead(price);
    }

    /// @notice Stores an update that the caller brings, and reads the price in the same transaction.
    /// @param update The bytes that an operator returns with `"broadcast": false`, or none. Anyone may bring them.
    function refreshWith(bytes calldata update) external {
        price = oracle.updateAndQuerySpotPrice("ETH-USD", update, 1 minutes);
        emit PriceRead(price);
    }
}
