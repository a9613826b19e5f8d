// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";

/// @notice Finds the median by sorting and applies the documented tolerance rule: the reference for the counting in
/// src/.
library ReferenceMedian {
    /// @return OK if all but at most f of the values lie within the tolerance of the median, otherwise DISAGREEMENT.
    function status(uint256[] memory values, uint256 toleranceBps, uint256 members)
        internal
        pure
        returns (Oracle.QueryStatus)
    {
        uint256 middle = median(values);
        uint256 outliers = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            if (!agrees(values[i], middle, toleranceBps)) ++outliers;
        }
        return outliers > (members - 1) / 3 ? Oracle.QueryStatus.DISAGREEMENT : Oracle.QueryStatus.OK;
    }

    /// @notice difference * 10,000 <= tolerance * median.
    function agrees(uint256 value, uint256 middle, uint256 toleranceBps) internal pure returns (bool) {
        uint256 difference = value > middle ? value - middle : middle - value;
        if (difference > type(uint256).max / 10_000) return false;
        return difference * 10_000 <= toleranceBps * middle;
    }

    /// @return below The number of values below the claimed one.
    /// @return above The number of values above it.
    function counts(uint256[] memory values, uint256 claimed) internal pure returns (uint256 below, uint256 above) {
        for (uint256 i = 0; i < values.length; ++i) {
            if (values[i] < claimed) ++below;
            if (values[i] > claimed) ++above;
        }
    }

    /// @return The lower median; 0 if there are no values.
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
