// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Oracle} from "../Oracle.sol";

/// @title QueryLens
/// @notice Reads many data points of one dataset in one call, all in the same state.
/// @dev Never deployed. An `eth_call` with a state override puts this contract's code, and enough Ether for the
/// queries, at an address that nobody owns, so that nobody pays. Multicall3 would need the price before the call, and
/// is not on every network.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract QueryLens {
    /// @notice The answer to one query.
    struct Answer {
        bytes32 output;
        uint256 updatedAt;
        Oracle.QueryStatus status;
    }

    /// @notice Queries every key, and pays for it out of this contract's balance. Reverts if one query does.
    /// @param dataset The dataset that is read.
    /// @param keys The keys in ASCII, of any form.
    /// @return answers The dataset's answers, in the order of the keys.
    function queryMany(Oracle dataset, bytes[] calldata keys) external returns (Answer[] memory answers) {
        uint256 price = dataset.queryPrice();
        answers = new Answer[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            Answer memory answer = answers[i];
            (answer.output, answer.updatedAt, answer.status) = dataset.query{value: price}(keys[i]);
        }
    }
}
