// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";

/// @notice Answers what it is told to, and records what it was asked.
contract OracleStub is Oracle {
    uint256 public queryPrice;
    bytes public asked;
    uint256 public paid;
    bytes32 private _output;
    uint256 private _updatedAt;
    QueryStatus private _status;

    function setPrice(uint256 price) external {
        queryPrice = price;
    }

    function setAnswer(bytes32 output, uint256 updatedAt, QueryStatus status) external {
        (_output, _updatedAt, _status) = (output, updatedAt, status);
    }

    function query(bytes calldata input) external payable returns (bytes32, uint256, QueryStatus) {
        (asked, paid) = (input, msg.value);
        return (_output, _updatedAt, _status);
    }
}
