// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title IERC7412
/// @notice On-demand off-chain data (ERC-7412): an oracle that asks for its data with an error.
interface IERC7412 {
    /// @notice The transaction needs data first. A client fetches what `oracleQuery` asks for, and calls
    /// `fulfillOracleQuery` of `oracleContract` with it before the transaction's own call, in the same transaction.
    error OracleDataRequired(address oracleContract, bytes oracleQuery);

    /// @notice Returns the name of the oracle, by which a client knows where to fetch the data.
    function oracleId() external view returns (bytes32);

    /// @notice Stores the data that was asked for, after verifying its signatures.
    /// @param signedOffchainData The data, in the format that the oracle defines.
    function fulfillOracleQuery(bytes calldata signedOffchainData) external payable;
}
