// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {MedianRules} from "../../src/libraries/MedianRules.sol";
import {ReportedValues} from "../../src/types/ReportedValues.sol";

/// @notice For any values of up to five members, a median dataset takes a claim for the median if and only if it is the
/// lower middle of the sorted values; and of up to three, it counts as outliers those that lie further from the claim
/// than the tolerance.
/// @dev The plain definitions branch: each order of the values is a path of its own, in which a query is easy. Values
/// have 8 bits here: they are only compared, with each other and with the ends of the tolerance, and 8 bits have room for
/// all orders of these. test/types/ReportedValues.t.sol tries whole words, and more of them.
contract MedianSymbolic {
    /// @dev Where the values are in the calldata: the first argument, behind the selector.
    uint256 private constant VALUES = 4;

    function check_median_of1(uint256[1] calldata values, uint8 claim) external pure {
        _assertMedianIs(0, values.length, claim);
    }

    function check_median_of2(uint256[2] calldata values, uint8 claim) external pure {
        _assertMedianIs(0, values.length, claim);
    }

    function check_median_of3(uint256[3] calldata values, uint8 claim) external pure {
        _assertMedianIs(1, values.length, claim);
    }

    function check_median_of4(uint256[4] calldata values, uint8 claim) external pure {
        _assertMedianIs(1, values.length, claim);
    }

    function check_median_of5(uint256[5] calldata values, uint8 claim) external pure {
        _assertMedianIs(2, values.length, claim);
    }

    function check_outliers_of1(uint256[1] calldata values, uint8 claim, uint8 distance) external pure {
        if (distance > claim) return;
        _assertOutliersBeyond(distance, values.length, claim, distance);
    }

    function check_outliers_of2(uint256[2] calldata values, uint8 claim, uint8 distance) external pure {
        if (distance > claim) return;
        _assertOutliersBeyond(distance, values.length, claim, distance);
    }

    function check_outliers_of3(uint256[3] calldata values, uint8 claim, uint8 distance) external pure {
        if (distance > claim) return;
        _assertOutliersBeyond(distance, values.length, claim, distance);
    }

    function refute_median_of1_isAnyClaim(uint256[1] calldata values, uint8 claim) external pure {
        _copy(values.length);
        (uint256 isMedian,) = _judge(1, claim, 0);
        assert(isMedian == 1);
    }

    function refute_median_of2_isTheNextHigher(uint256[2] calldata values, uint8 claim) external pure {
        _assertMedianIs(1, values.length, claim);
    }

    function refute_median_of3_isTheNextHigher(uint256[3] calldata values, uint8 claim) external pure {
        _assertMedianIs(2, values.length, claim);
    }

    function refute_median_of4_isTheNextHigher(uint256[4] calldata values, uint8 claim) external pure {
        _assertMedianIs(2, values.length, claim);
    }

    function refute_median_of5_isTheNextHigher(uint256[5] calldata values, uint8 claim) external pure {
        _assertMedianIs(3, values.length, claim);
    }

    function refute_outliers_of1_beginAtTheTolerance(uint256[1] calldata values, uint8 claim, uint8 distance)
        external
        pure
    {
        if (distance > claim || distance == 0) return;
        _assertOutliersBeyond(uint256(distance) - 1, values.length, claim, distance);
    }

    function refute_outliers_of2_beginAtTheTolerance(uint256[2] calldata values, uint8 claim, uint8 distance)
        external
        pure
    {
        if (distance > claim || distance == 0) return;
        _assertOutliersBeyond(uint256(distance) - 1, values.length, claim, distance);
    }

    function refute_outliers_of3_beginAtTheTolerance(uint256[3] calldata values, uint8 claim, uint8 distance)
        external
        pure
    {
        if (distance > claim || distance == 0) return;
        _assertOutliersBeyond(uint256(distance) - 1, values.length, claim, distance);
    }

    /// @dev Asserts that a claim is taken for the median exactly when it is the sorted values' one at `index`.
    function _assertMedianIs(uint256 index, uint256 count, uint256 claim) private pure {
        uint256[] memory sorted = _copy(count);
        _sort(sorted);
        (uint256 isMedian,) = _judge(count, claim, 0);
        assert(isMedian == _toUint(claim == sorted[index]));
    }

    /// @dev Asserts that the outliers are exactly the values that lie further from the claim than `limit`.
    function _assertOutliersBeyond(uint256 limit, uint256 count, uint256 claim, uint256 distance) private pure {
        uint256[] memory copy = _copy(count);
        (, uint256 outliers) = _judge(count, claim, distance);
        assert(outliers == _outliers(copy, claim, limit));
    }

    /// @dev As `MedianDataset._judge` does.
    function _judge(uint256 count, uint256 claim, uint256 distance)
        private
        pure
        returns (uint256 isMedian, uint256 outliers)
    {
        uint256 below;
        uint256 above;
        ReportedValues.create(count);
        uint256 place = ReportedValues.place();
        assembly ("memory-safe") {
            calldatacopy(place, VALUES, shl(5, count))
        }
        unchecked {
            (below, above, outliers) = ReportedValues.tally(claim, claim - distance, 2 * distance);
        }
        isMedian = 1 ^ (_toUint(MedianRules.isTooHigh(below, count)) | _toUint(MedianRules.isTooLow(above, count)));
    }

    function _outliers(uint256[] memory values, uint256 claim, uint256 distance) private pure returns (uint256 count) {
        for (uint256 i = 0; i < values.length; ++i) {
            if (values[i] > claim + distance || values[i] < claim - distance) ++count;
        }
    }

    function _copy(uint256 count) private pure returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 value;
            assembly ("memory-safe") {
                value := calldataload(add(VALUES, shl(5, i)))
            }
            require(value <= type(uint8).max);
            values[i] = value;
        }
    }

    /// @dev Insertion sort.
    function _sort(uint256[] memory values) private pure {
        for (uint256 i = 1; i < values.length; ++i) {
            for (uint256 j = i; j > 0 && values[j] < values[j - 1]; --j) {
                (values[j - 1], values[j]) = (values[j], values[j - 1]);
            }
        }
    }

    function _toUint(bool isTrue) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := isTrue
        }
    }
}
