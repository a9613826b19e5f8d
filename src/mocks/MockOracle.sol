// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../Oracle.sol";

/// @title MockOracle
/// @notice A dataset for your own forge tests: it answers what you set, and checks payments like a real one.
///
///     vm.warp(1 days); // a forge test begins at timestamp 1, when nothing can be old yet
///     MockOracle oracle = new MockOracle();
///     oracle.setSpotPrice("ETH-USD", 3000e18);
///     oracle.setSpotPrice("ETH-USD", 3000e18, 11 minutes); // too old for a limit of ten
///     oracle.setAnswer("SPOTPX/ETH-USD", 0, 0, Oracle.QueryStatus.DISAGREEMENT);
contract MockOracle is Oracle {
    /// @notice The payment of a query is not its exact price, as in a real dataset. Both in wei.
    error WrongPayment(uint256 sent, uint256 price);

    struct Answer {
        bytes32 output;
        uint256 updatedAt;
        QueryStatus status;
        bool isSet;
    }

    /// @inheritdoc Oracle
    uint256 public override queryPrice;

    /// @dev By keccak256 of the key.
    mapping(bytes32 => Answer) private _answers;

    /// @notice Sets the price of one query, in wei. It is 0 by default.
    function setQueryPrice(uint256 price) external {
        queryPrice = price;
    }

    /// @notice Sets the rate of a pair, scaled by 1e18, updated now.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    function setSpotPrice(string calldata pair, uint256 rate) external {
        setAnswer(abi.encodePacked("SPOTPX/", pair), bytes32(rate), 0, QueryStatus.OK);
    }

    /// @notice Sets the rate of a pair, scaled by 1e18, updated `age` seconds ago.
    function setSpotPrice(string calldata pair, uint256 rate, uint256 age) external {
        setAnswer(abi.encodePacked("SPOTPX/", pair), bytes32(rate), age, QueryStatus.OK);
    }

    /// @notice Sets the answer to a query for `key`. It ages with the block timestamp.
    /// @param age The number of seconds since it was updated, at most the block timestamp.
    function setAnswer(bytes memory key, bytes32 output, uint256 age, QueryStatus status) public {
        uint256 updatedAt = age < block.timestamp ? block.timestamp - age : 0;
        _answers[keccak256(key)] = Answer({output: output, updatedAt: updatedAt, status: status, isSet: true});
    }

    /// @inheritdoc Oracle
    /// @dev Returns NOT_AVAILABLE, 0, 0 for a key that was not set.
    function query(bytes calldata input)
        external
        payable
        override
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        if (msg.value != queryPrice) revert WrongPayment(msg.value, queryPrice);
        Answer memory answer = _answers[keccak256(input)];
        if (!answer.isSet) return (0, 0, QueryStatus.NOT_AVAILABLE);
        return (answer.output, answer.updatedAt, answer.status);
    }
}
