// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Words} from "../types/Words.sol";

/// @title Median
library Median {
    /// @notice Where values lie about a median: how many below it, how many above it, and how many of both farther than
    /// `reach` from it.
    /// @dev Assumes at most 65,535 values, `reach` <= `median`, and that their sum does not overflow. `ReferenceMedian` in test/utils says the
    /// same in plain Solidity.
    function tally(Words values, uint256 count, uint256 median, uint256 reach)
        internal
        pure
        returns (uint256 below, uint256 above, uint256 outliers)
    {
        assembly ("memory-safe") {
            let lowest := sub(median, reach)
            let span := shl(1, reach)
            let end := add(values, shl(5, count))
            for { let next := values } lt(next, end) { next := add(next, 0x20) } {
                let value := mload(next)
                below := add(below, lt(value, median))
                above := add(above, gt(value, median))
                // Below `lowest` the difference wraps around, and is larger than any span.
                outliers := add(outliers, gt(sub(value, lowest), span))
            }
        }
    }
}
