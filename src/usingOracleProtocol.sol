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
        (rate,) = _querySpotPrice(oracle, pair);
    }

    /// @notice The newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge In seconds. An age equal to it passes.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `DataExpired` when the data is too old.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        uint256 updatedAt;
        (rate, updatedAt) = _querySpotPrice(oracle, pair);
        // A dataset never stores a round later than its block. An oracle that does is taken as fresh, not as an overflow.
        uint256 age = updatedAt < block.timestamp ? block.timestamp - updatedAt : 0;
        if (age > maxAge) revert DataExpired(age, maxAge);
    }

    function _querySpotPrice(Oracle oracle, string memory pair) private returns (uint256 rate, uint256 updatedAt) {
        bytes32 output;
        Oracle.QueryStatus status;
        (output, updatedAt, status) = oracle.query{value: oracle.queryPrice()}(abi.encodePacked("SPOTPX/", pair));
        if (status != Oracle.QueryStatus.OK) revert BadQueryStatus(status);
        rate = uint256(output);
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
