// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "./Oracle.sol";

/// @title OracleProtocol
/// @notice Reads a dataset in one line. The query price is paid out of the calling contract's balance.
/// @dev Every helper has a second form whose last argument is the maximum price that the caller agrees to pay: the price
/// can be raised in front of the transaction, and an oracle that is not a dataset can name any. The form without it pays
/// at most `DEFAULT_MAX_PRICE`. A library cannot read a limit that the consumer keeps, except from storage, which would
/// cost every query 2,100 gas; nor ask the oracle for one, because a dishonest oracle would answer it too.
library OracleProtocol {
    /// @notice The most that a helper without a `maxPrice` pays for one query, in wei: the query price of this project's
    /// own settings. Pass a `maxPrice` where queries cost more, or where your contract must keep reading when they do.
    uint256 internal constant DEFAULT_MAX_PRICE = 0.001 ether;

    /// @notice The data point cannot be used. INVALID: fix the key. NOT_AVAILABLE: request an update. DISAGREEMENT: the
    /// providers' values are too far apart now.
    error BadQueryStatus(Oracle.QueryStatus status);

    /// @notice The data point is older than the caller allows: request an update. Both in seconds.
    error DataExpired(uint256 age, uint256 maxAge);

    /// @notice The query costs more than the caller allows, and nothing was paid: pass a higher `maxPrice` if that is
    /// intended. Both in wei.
    error PriceTooHigh(uint256 price, uint256 maxPrice);

    /// @notice Returns the newest rate of a pair, scaled by 1e18.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `DEFAULT_MAX_PRICE`.
    function querySpotPrice(Oracle oracle, string memory pair) internal returns (uint256 rate) {
        rate = querySpotPrice(oracle, pair, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18. Pays at most `maxPrice`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `maxPrice`.
    function querySpotPrice(Oracle oracle, string memory pair, uint256 maxPrice) internal returns (uint256 rate) {
        rate = queryUint(oracle, abi.encodePacked("SPOTPX/", pair), maxPrice);
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        rate = querySpotPriceWithExpiry(oracle, pair, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`. Pays at most
    /// `maxPrice`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `maxPrice`.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge, uint256 maxPrice)
        internal
        returns (uint256 rate)
    {
        rate = queryUintWithExpiry(oracle, abi.encodePacked("SPOTPX/", pair), maxAge, maxPrice);
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `DEFAULT_MAX_PRICE`.
    function queryUint(Oracle oracle, bytes memory key) internal returns (uint256 value) {
        value = queryUint(oracle, key, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines. Pays at most
    /// `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `maxPrice`.
    function queryUint(Oracle oracle, bytes memory key, uint256 maxPrice) internal returns (uint256 value) {
        value = uint256(queryBytes32(oracle, key, maxPrice));
    }

    /// @notice Returns the newest value of a key as a number, if it is not older than `maxAge`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function queryUintWithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (uint256 value) {
        value = queryUintWithExpiry(oracle, key, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest value of a key as a number, if it is not older than `maxAge`. Pays at most
    /// `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `maxPrice`.
    function queryUintWithExpiry(Oracle oracle, bytes memory key, uint256 maxAge, uint256 maxPrice)
        internal
        returns (uint256 value)
    {
        value = uint256(queryBytes32WithExpiry(oracle, key, maxAge, maxPrice));
    }

    /// @notice Returns the newest value of a key, as it is stored.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `DEFAULT_MAX_PRICE`.
    function queryBytes32(Oracle oracle, bytes memory key) internal returns (bytes32 value) {
        value = queryBytes32(oracle, key, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest value of a key, as it is stored. Pays at most `maxPrice`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `maxPrice`.
    function queryBytes32(Oracle oracle, bytes memory key, uint256 maxPrice) internal returns (bytes32 value) {
        (value,) = _query(oracle, key, maxPrice);
    }

    /// @notice Returns the newest value of a key, as it is stored, if it is not older than `maxAge`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function queryBytes32WithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (bytes32 value) {
        value = queryBytes32WithExpiry(oracle, key, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest value of a key, as it is stored, if it is not older than `maxAge`. Pays at most
    /// `maxPrice`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `maxPrice`.
    function queryBytes32WithExpiry(Oracle oracle, bytes memory key, uint256 maxAge, uint256 maxPrice)
        internal
        returns (bytes32 value)
    {
        uint256 updatedAt;
        (value, updatedAt) = _query(oracle, key, maxPrice);
        // A dataset never stores a round later than its block. Data of an oracle that does so counts as fresh.
        uint256 age = updatedAt < block.timestamp ? block.timestamp - updatedAt : 0;
        if (age > maxAge) revert DataExpired(age, maxAge);
    }

    /// @notice Returns the answer of `Oracle.query` whatever its status, for contracts that can continue without a
    /// value.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @return output The value; 0 unless `status` is OK.
    /// @return updatedAt The round of the providers' last reports on the key, in seconds since 1970; 0 if there are
    /// none.
    /// @return status OK if `output` can be used, otherwise the reason why not.
    /// @dev Pays for the query whatever its status. Reverts if the oracle does, if the balance is too low, and with
    /// `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function tryQuery(Oracle oracle, bytes memory key)
        internal
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        return tryQuery(oracle, key, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the answer of `Oracle.query` whatever its status, for contracts that can continue without a
    /// value. Pays at most `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @return output The value; 0 unless `status` is OK.
    /// @return updatedAt The round of the providers' last reports on the key, in seconds since 1970; 0 if there are
    /// none.
    /// @return status OK if `output` can be used, otherwise the reason why not.
    /// @dev Pays for the query whatever its status. Reverts if the oracle does, if the balance is too low, and with
    /// `PriceTooHigh` when the price is above `maxPrice`.
    function tryQuery(Oracle oracle, bytes memory key, uint256 maxPrice)
        internal
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        uint256 price = oracle.queryPrice();
        if (price > maxPrice) revert PriceTooHigh(price, maxPrice);
        return oracle.query{value: price}(key);
    }

    function _query(Oracle oracle, bytes memory key, uint256 maxPrice)
        private
        returns (bytes32 output, uint256 updatedAt)
    {
        Oracle.QueryStatus status;
        (output, updatedAt, status) = tryQuery(oracle, key, maxPrice);
        if (status != Oracle.QueryStatus.OK) revert BadQueryStatus(status);
    }
}

/// @title usingOracleProtocol
/// @notice The base of contracts that read datasets with the helpers above.
/// @dev Since Solidity 0.7 a `using for` directive is not inherited, so a consumer repeats it:
///
///     contract Consumer is usingOracleProtocol {
///         using OracleProtocol for Oracle;
///     }
abstract contract usingOracleProtocol {
    using OracleProtocol for Oracle;
}
