// SPDX-License-Identifier: MIT
pragma solidity >=0.5.0 <0.9.0;

/// @title Oracle
/// @notice The read side of a dataset: pay the query price, get one data point in the same transaction.
/// @dev Every dataset is one contract at one address. This interface may be pasted into any contract as it is.
interface Oracle {
    /// INVALID: the key is not of the dataset's form.
    /// OK: `output` is a value on which the data providers agree.
    /// NOT_AVAILABLE: the key has no data, or the providers signed that there is none now.
    /// DISAGREEMENT: the providers' values lie too far apart.
    enum QueryStatus {
        INVALID,
        OK,
        NOT_AVAILABLE,
        DISAGREEMENT
    }

    /// @notice Reads one data point. Payable by anyone; reverts unless exactly `queryPrice()` wei are sent.
    /// @param input The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @return output The value; 0 unless `status` is OK. A spot price is a uint256 scaled by 1e18.
    /// @return updatedAt When the providers last reported on the key, in seconds since 1970; 0 if never.
    /// @return status Whether `output` can be used, and if not, why.
    function query(bytes calldata input)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status);

    /// @notice The price of one query, in wei.
    function queryPrice() external view returns (uint256);
}
