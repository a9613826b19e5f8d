// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "./Oracle.sol";

/// @title OracleProtocol
/// @notice Reads a dataset in one line. The query price is paid out of the calling contract's balance without a limit,
/// but a dataset's owner can never raise it above the ceiling that was fixed at the dataset's deployment.
library OracleProtocol {
    /// @notice The data point cannot be used. INVALID: fix the key. NOT_AVAILABLE: request an update. DISAGREEMENT: the
    /// providers' values are too far apart now.
    error BadQueryStatus(Oracle.QueryStatus status);

    /// @notice The data point is older than the caller allows: request an update. Both in seconds.
    error DataExpired(uint256 age, uint256 maxAge);

    /// @notice Returns the newest rate of a pair, scaled by 1e18.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK.
    function querySpotPrice(Oracle oracle, string memory pair) internal returns (uint256 rate) {
        rate = queryUint(oracle, abi.encodePacked("SPOTPX/", pair));
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        rate = queryUintWithExpiry(oracle, abi.encodePacked("SPOTPX/", pair), maxAge);
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK.
    function queryUint(Oracle oracle, bytes memory key) internal returns (uint256 value) {
        value = uint256(queryBytes32(oracle, key));
    }

    /// @notice Returns the newest value of a key as a number, if it is not older than `maxAge`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function queryUintWithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (uint256 value) {
        value = uint256(queryBytes32WithExpiry(oracle, key, maxAge));
    }

    /// @notice Returns the newest value of a key, as it is stored.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK.
    function queryBytes32(Oracle oracle, bytes memory key) internal returns (bytes32 value) {
        (value,) = _query(oracle, key);
    }

    /// @notice Returns the newest value of a key, as it is stored, if it is not older than `maxAge`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function queryBytes32WithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (bytes32 value) {
        uint256 updatedAt;
        (value, updatedAt) = _query(oracle, key);
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
    /// @dev Pays for the query whatever its status. Reverts only if the oracle does, or if the balance is too low.
    function tryQuery(Oracle oracle, bytes memory key)
        internal
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        return oracle.query{value: oracle.queryPrice()}(key);
    }

    function _query(Oracle oracle, bytes memory key) private returns (bytes32 output, uint256 updatedAt) {
        Oracle.QueryStatus status;
        (output, updatedAt, status) = tryQuery(oracle, key);
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
