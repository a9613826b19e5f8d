// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Oracle} from "../Oracle.sol";

/// @notice What a dataset keeps of one key, in one storage slot: value (208 bits), timestamp (40 bits), status (8 bits).
/// @dev All zero means that the key was never stored.
type DataPoint is uint256;

using DataPointLibrary for DataPoint global;

library DataPointLibrary {
    uint256 private constant TIMESTAMP_OFFSET = 8;
    uint256 private constant VALUE_OFFSET = 48;

    /// @dev Assumes `value` < 2^208 and `timestamp` < 2^40; the caller has checked both.
    function pack(uint256 value, uint256 timestamp, Oracle.QueryStatus status) internal pure returns (DataPoint) {
        return DataPoint.wrap((value << VALUE_OFFSET) | (timestamp << TIMESTAMP_OFFSET) | uint256(uint8(status)));
    }

    function isEmpty(DataPoint point) internal pure returns (bool) {
        return DataPoint.unwrap(point) == 0;
    }

    function value(DataPoint point) internal pure returns (uint256) {
        return DataPoint.unwrap(point) >> VALUE_OFFSET;
    }

    /// @return Seconds since 1970.
    function timestamp(DataPoint point) internal pure returns (uint256) {
        return uint40(DataPoint.unwrap(point) >> TIMESTAMP_OFFSET);
    }

    function status(DataPoint point) internal pure returns (Oracle.QueryStatus) {
        return Oracle.QueryStatus(uint8(DataPoint.unwrap(point)));
    }
}
