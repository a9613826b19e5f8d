// SPDX-License-Identifier: MIT
pragma solidity >=0.5.0 <0.9.0;

/// @title Oracle
/// @notice The read side of a dataset: a contract pays the query price and gets one data point in the same transaction.
/// @dev Every dataset is one contract at one address. You can paste this interface into any contract unchanged.
interface Oracle {
    /// INVALID: the key does not have the dataset's key form.
    /// OK: `output` is a value that the data providers agree on.
    /// NOT_AVAILABLE: the key has no data yet, or the providers reported that there is none now.
    /// DISAGREEMENT: the providers' values are too far apart, or none of them has a majority.
    enum QueryStatus {
        INVALID,
        OK,
        NOT_AVAILABLE,
        DISAGREEMENT
    }

    /// @notice Reads one data point. Anyone may call it. Reverts with `WrongPayment` (see `IDataset`) unless exactly
    /// `queryPrice()` wei are sent.
    /// @param input The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @return output The value; 0 unless `status` is OK. A spot price is a uint256 scaled by 1e18.
    /// @return updatedAt The round of the providers' last reports on the key, in seconds since 1970; 0 if there are
    /// none.
    /// @return status OK if `output` can be used, otherwise the reason why not.
    function query(bytes calldata input)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status);

    /// @notice The price of one query, in wei.
    function queryPrice() external view returns (uint256);
}
