// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title MedianRules
/// @notice The rules of the median, on counts of values: which value it is, and how far from it others may lie.
library MedianRules {
    uint256 private constant BPS = 10_000;

    /// @notice Returns true if a value lies above the lower middle of all values: too many are below it.
    /// @param below The number of values below it.
    /// @param present The number of all values.
    function isTooHigh(uint256 below, uint256 present) internal pure returns (bool) {
        unchecked {
            return 2 * below >= present;
        }
    }

    /// @notice Returns true if a value lies below the lower middle of all values: too many are above it.
    /// @param above The number of values above it.
    /// @param present The number of all values.
    function isTooLow(uint256 above, uint256 present) internal pure returns (bool) {
        unchecked {
            return 2 * above > present;
        }
    }

    /// @notice Returns the largest distance from the median within the tolerance, rounded down.
    /// @param toleranceBps In basis points of the median, at most 10,000.
    /// @dev A median of 208 bits times a tolerance of at most 10,000 cannot overflow.
    function toleranceDistance(uint256 median, uint256 toleranceBps) internal pure returns (uint256) {
        unchecked {
            return median * toleranceBps / BPS;
        }
    }
}
