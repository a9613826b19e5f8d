// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {MedianRules} from "../../src/libraries/MedianRules.sol";
import {ReportedValuesLibrary} from "../../src/types/ReportedValues.sol";

/// @notice What `MedianDataset` accepts as the median is the lower middle of the sorted values, and what it counts as an
/// outlier lies further from it than the tolerance: for any values, of up to five members.
contract MedianSymbolic {
    /// @dev The values are the first argument, behind the selector.
    uint256 private constant VALUES = 4;

    function check_median_of1(uint256[1] calldata values, uint208 claim, uint256 distance) external pure {
        uint256[] memory sorted = new uint256[](1);
        sorted[0] = values[0];
        _check(sorted, claim, distance);
    }

    function check_median_of2(uint256[2] calldata values, uint208 claim, uint256 distance) external pure {
        uint256[] memory sorted = new uint256[](2);
        for (uint256 i = 0; i < 2; ++i) {
            sorted[i] = values[i];
        }
        _check(sorted, claim, distance);
    }

    function check_median_of3(uint256[3] calldata values, uint208 claim, uint256 distance) external pure {
        uint256[] memory sorted = new uint256[](3);
        for (uint256 i = 0; i < 3; ++i) {
            sorted[i] = values[i];
        }
        _check(sorted, claim, distance);
    }

    function check_median_of4(uint256[4] calldata values, uint208 claim, uint256 distance) external pure {
        uint256[] memory sorted = new uint256[](4);
        for (uint256 i = 0; i < 4; ++i) {
            sorted[i] = values[i];
        }
        _check(sorted, claim, distance);
    }

    function check_median_of5(uint256[5] calldata values, uint208 claim, uint256 distance) external pure {
        uint256[] memory sorted = new uint256[](5);
        for (uint256 i = 0; i < 5; ++i) {
            sorted[i] = values[i];
        }
        _check(sorted, claim, distance);
    }

    function refute_median_isTheUpperMiddle(uint256[4] calldata values, uint208 claim) external pure {
        uint256[] memory sorted = new uint256[](4);
        for (uint256 i = 0; i < 4; ++i) {
            sorted[i] = values[i];
        }
        _sort(sorted);
        (bool isMedian,) = _judge(4, claim, 0);
        assert(isMedian == (claim == sorted[2]));
    }

    function _check(uint256[] memory values, uint256 claim, uint256 distance) private pure {
        if (distance > claim) return;
        (bool isMedian, uint256 outliers) = _judge(values.length, claim, distance);
        uint256 plain = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            uint256 value = values[i];
            plain += _toUint((value < claim ? claim - value : value - claim) > distance);
        }
        assert(outliers == plain);
        _sort(values);
        assert(isMedian == (claim == values[(values.length - 1) / 2]));
    }

    /// @dev As `MedianDataset._judge` does.
    function _judge(uint256 count, uint256 claim, uint256 distance) private pure returns (bool, uint256) {
        (uint256 below, uint256 above, uint256 outliers) =
            ReportedValuesLibrary.create(VALUES, 0x20, count).tally(claim, distance);
        return (!MedianRules.isTooHigh(below, count) && !MedianRules.isTooLow(above, count), outliers);
    }

    function _sort(uint256[] memory values) private pure {
        for (uint256 i = 1; i < values.length; ++i) {
            for (uint256 j = i; j > 0; --j) {
                (uint256 a, uint256 b) = (values[j - 1], values[j]);
                (values[j - 1], values[j]) = a < b ? (a, b) : (b, a);
            }
        }
    }

    function _toUint(bool isTrue) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := isTrue
        }
    }
}
