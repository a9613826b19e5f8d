// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "./Oracle.sol";

/// @title OracleProtocol
/// @notice Reads of a dataset in one line. The query price is paid out of the calling contract's own balance,
/// whatever it is; a dataset's owner can never raise it above the ceiling fixed at the dataset's deployment.
library OracleProtocol {
    /// @notice The data point cannot be used. INVALID: mend the key. NOT_AVAILABLE: ask for an update. DISAGREEMENT:
    /// the providers' values lie too far apart now.
    error BadQueryStatus(Oracle.QueryStatus status);

    /// @notice The data point is older than the caller allows. Ask for an update. Both in seconds.
    error DataExpired(uint256 age, uint256 maxAge);

    /// @notice The newest rate of a pair, scaled by 1e18.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK.
    function querySpotPrice(Oracle oracle, string memory pair) internal returns (uint256 rate) {
        rate = queryUint(oracle, abi.encodePacked("SPOTPX/", pair));
    }

    /// @notice The newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge In seconds. An age equal to it passes.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        rate = queryUintWithExpiry(oracle, abi.encodePacked("SPOTPX/", pair), maxAge);
    }

    /// @notice The newest value of a key as a number; the key's dataset says in which scale.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK.
    function queryUint(Oracle oracle, bytes memory key) internal returns (uint256 value) {
        value = uint256(queryBytes32(oracle, key));
    }

    /// @notice The newest value of a key as a number, if it is not older than `maxAge`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge In seconds. An age equal to it passes.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function queryUintWithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (uint256 value) {
        value = uint256(queryBytes32WithExpiry(oracle, key, maxAge));
    }

    /// @notice The newest value of a key, as it is stored.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK.
    function queryBytes32(Oracle oracle, bytes memory key) internal returns (bytes32 value) {
        (value,) = _query(oracle, key);
    }

    /// @notice The newest value of a key, as it is stored, if it is not older than `maxAge`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge In seconds. An age equal to it passes.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function queryBytes32WithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (bytes32 value) {
        uint256 updatedAt;
        (value, updatedAt) = _query(oracle, key);
        // A dataset never stores a round later than its block. An oracle that does is taken as fresh, not as an overflow.
        uint256 age = updatedAt < block.timestamp ? block.timestamp - updatedAt : 0;
        if (age > maxAge) revert DataExpired(age, maxAge);
    }

    /// @notice What `Oracle.query` answers, whatever the status is: for a contract that can go on without a value.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @return output The value; 0 unless `status` is OK.
    /// @return updatedAt When the providers last reported on the key, in seconds since 1970; 0 if never.
    /// @return status Whether `output` can be used, and if not, why.
    /// @dev Pays for every status. Reverts only when the oracle does, or the balance is too small.
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
/// @notice The base of a contract that reads datasets with the helpers above.
/// @dev Since Solidity 0.7 a `using for` is not inherited, so a consumer repeats this contract's one line:
///
///     contract Consumer is usingOracleProtocol {
///         using OracleProtocol for Oracle;
///     }
abstract contract usingOracleProtocol {
    using OracleProtocol for Oracle;
}
