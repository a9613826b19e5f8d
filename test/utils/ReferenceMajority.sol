// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {ReferenceMedian} from "./ReferenceMedian.sol";

/// @notice Finds the majority by sorting, which makes equal values adjacent.
library ReferenceMajority {
    /// @return OK or DISAGREEMENT; INVALID while the members without a value could still decide the outcome.
    function status(uint256[] memory values, uint256 members) internal pure returns (Oracle.QueryStatus) {
        (, uint256 count) = mostFrequent(values);
        if (count > members / 2) return Oracle.QueryStatus.OK;
        uint256 absent = members - values.length;
        return count + absent > members / 2 ? Oracle.QueryStatus.INVALID : Oracle.QueryStatus.DISAGREEMENT;
    }

    /// @return value The most frequent value, the lowest if there are several; 0 if there are no values.
    /// @return count The number of its occurrences.
    function mostFrequent(uint256[] memory values) internal pure returns (uint256 value, uint256 count) {
        uint256[] memory sorted = ReferenceMedian.ascending(values);
        uint256 run = 0;
        for (uint256 i = 0; i < sorted.length; ++i) {
            run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
            if (run > count) (value, count) = (sorted[i], run);
        }
    }
}
