// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../Oracle.sol";
import {KeyForm, KeyFormLibrary} from "../types/KeyForm.sol";

/// @title MockOracle
/// @notice A dataset for your own forge tests: it answers what you set, and checks payments and keys like a real one.
///
///     MockOracle oracle = new MockOracle();
///     oracle.setSpotPrice("ETH-USD", 3000e18);
///     skip(11 minutes); // now the rate is too old for a limit of ten
///     oracle.setSpotPrice("BTC-USD", 60000e18, 10 minutes); // not too old yet
///     oracle.setAnswer("SPOTPX/ETH-USD", 0, 0, Oracle.QueryStatus.DISAGREEMENT);
///
/// All keys of a dataset have one form. The first key that you set decides which form the mock's keys have.
contract MockOracle is Oracle {
    using KeyFormLibrary for KeyForm;

    /// @notice The key does not have the form of the dataset's keys, which would answer INVALID: it is neither
    /// "SPOTPX/<BASE>-<QUOTE>" nor "WEB/" and a request spec's hash, or not the form of the first key that was set.
    error InvalidKey(bytes key);

    /// @notice An answer cannot be as old as that, in seconds, at this block timestamp: call `vm.warp` or `skip` first.
    /// A forge test begins at timestamp 1.
    error OlderThanTheChain(uint256 age, uint256 blockTimestamp);

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

    /// @dev Meaningless until a key was set.
    KeyForm private _keyForm;

    bool private _hasKeys;

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
    /// @param age The number of seconds since it was updated, less than the block timestamp.
    function setAnswer(bytes memory key, bytes32 output, uint256 age, QueryStatus status) public {
        if (!_hasKeys && KeyForm.WEB_ORACLE.matches(key)) _keyForm = KeyForm.WEB_ORACLE;
        if (!_keyForm.matches(key)) revert InvalidKey(key);
        if (age >= block.timestamp) revert OlderThanTheChain(age, block.timestamp);
        _hasKeys = true;
        _answers[keccak256(key)] =
            Answer({output: output, updatedAt: block.timestamp - age, status: status, isSet: true});
    }

    /// @inheritdoc Oracle
    /// @dev Returns NOT_AVAILABLE, 0, 0 for a key that was not set, and INVALID, 0, 0 for one of another form. While no
    /// key is set, keys of both forms are NOT_AVAILABLE.
    function query(bytes calldata input)
        external
        payable
        override
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        if (msg.value != queryPrice) revert WrongPayment(msg.value, queryPrice);
        Answer memory answer = _answers[keccak256(input)];
        if (!answer.isSet) return (0, 0, _isValid(input) ? QueryStatus.NOT_AVAILABLE : QueryStatus.INVALID);
        return (answer.output, answer.updatedAt, answer.status);
    }

    function _isValid(bytes calldata key) private view returns (bool) {
        return _keyForm.matches(key) || (!_hasKeys && KeyForm.WEB_ORACLE.matches(key));
    }
}
