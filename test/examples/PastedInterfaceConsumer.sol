// SPDX-License-Identifier: MIT
pragma solidity >=0.6.12 <0.9.0;

// This file imports nothing: the published interface is pasted below.

interface Oracle {
    enum QueryStatus {
        INVALID,
        OK,
        NOT_AVAILABLE,
        DISAGREEMENT
    }

    function query(bytes calldata input)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status);

    function queryPrice() external view returns (uint256);
}

/// @title PastedInterfaceConsumer
/// @notice Reads any data point of a dataset. The caller pays.
contract PastedInterfaceConsumer {
    function read(Oracle oracle, bytes calldata key)
        external
        payable
        returns (uint256 value, uint256 updatedAt, Oracle.QueryStatus status)
    {
        bytes32 output;
        (output, updatedAt, status) = oracle.query{value: oracle.queryPrice()}(key);
        value = uint256(output);
    }
}
