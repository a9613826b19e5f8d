// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle} from "../Oracle.sol";

/// @notice The state of one key in one storage slot: value (208 bits), timestamp (40 bits), status (8 bits).
/// @dev A slot of zero means that the key was never stored or announced.
type DataPoint is uint256;

using DataPointLibrary for DataPoint global;

library DataPointLibrary {
    uint256 private constant TIMESTAMP_OFFSET = 8;
    uint256 private constant VALUE_OFFSET = 48;

    /// @dev Assumes a value below 2^208 and a timestamp below 2^40; the caller has checked both.
    function pack(uint256 value_, uint256 timestamp_, Oracle.QueryStatus status_) internal pure returns (DataPoint) {
        return DataPoint.wrap((value_ << VALUE_OFFSET) | (timestamp_ << TIMESTAMP_OFFSET) | uint256(status_));
    }

    function isEmpty(DataPoint point) internal pure returns (bool) {
        return DataPoint.unwrap(point) == 0;
    }

    function value(DataPoint point) internal pure returns (uint256) {
        return DataPoint.unwrap(point) >> VALUE_OFFSET;
    }

    /// @return Seconds since 1970.
    function timestamp(DataPoint point) internal pure returns (uint256) {
        return (DataPoint.unwrap(point) >> TIMESTAMP_OFFSET) & type(uint40).max;
    }

    /// @dev Skips the check that the number is a valid enum value, because nothing else is ever packed.
    function status(DataPoint point) internal pure returns (Oracle.QueryStatus result) {
        assembly ("memory-safe") {
            result := and(point, 0xff)
        }
    }
}
