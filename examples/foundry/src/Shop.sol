// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle, OracleProtocol, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";

/// @title Shop
/// @notice Sells tickets for 20 US dollars each, paid in Ether at the rate of this minute.
contract Shop is usingOracleProtocol {
    using OracleProtocol for Oracle;

    /// @notice The payment is too low: send at least `cost`. Both amounts are in wei.
    error TooLittle(uint256 sent, uint256 cost);

    /// @notice The change could not be returned: the buyer is a contract that takes no Ether.
    error ChangeRefused();

    /// @notice The price of a ticket in US dollars, scaled by 1e18.
    uint256 public constant TICKET_PRICE = 20e18;

    /// @notice The maximum age of the rate, in seconds.
    uint256 public constant MAX_AGE = 1 minutes;

    /// @notice The dataset that is read.
    Oracle public immutable oracle;

    /// @notice The number of tickets of a buyer.
    mapping(address => uint256) public ticketsOf;

    constructor(Oracle oracle_) {
        oracle = oracle_;
    }

    /// @notice Sells one ticket and returns the change.
    /// @param update A signed update of ETH-USD, fetched from an operator. If it is newer than the stored rate, it is
    /// stored first. It may be empty: then the stored rate is used, unless it is too old.
    /// @return cost The cost of the ticket and of the query, in wei.
    function buy(bytes calldata update) external payable returns (uint256 cost) {
        uint256 queryPrice = oracle.queryPrice();
        if (msg.value < queryPrice) revert TooLittle(msg.value, queryPrice);
        uint256 rate = oracle.updateAndQuerySpotPrice("ETH-USD", update, MAX_AGE, queryPrice);
        cost = (TICKET_PRICE * 1 ether + rate - 1) / rate + queryPrice;
        if (msg.value < cost) revert TooLittle(msg.value, cost);
        ticketsOf[msg.sender]++;
        (bool isTaken,) = msg.sender.call{value: msg.value - cost}("");
        if (!isTaken) revert ChangeRefused();
    }
}
