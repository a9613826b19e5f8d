// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

/// @notice The median by sorting: what the counting in src/ is held to.
library ReferenceMedian {
    /// @return The lower middle value; 0 of no values.
    function median(uint256[] memory values) internal pure returns (uint256) {
        return values.length == 0 ? 0 : ascending(values)[(values.length - 1) / 2];
    }

    function ascending(uint256[] memory values) internal pure returns (uint256[] memory sorted) {
        sorted = new uint256[](values.length);
        for (uint256 i = 0; i < values.length; ++i) {
            uint256 place = i;
            for (; place > 0 && sorted[place - 1] > values[i]; --place) {
                sorted[place] = sorted[place - 1];
            }
            sorted[place] = values[i];
        }
    }
}
