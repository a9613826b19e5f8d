// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title Quorum
/// @notice Defines how many members of a committee must sign, and how many may lie.
library Quorum {
    /// @notice Returns true if the signers are more than two thirds of the committee.
    /// @param absentees The number of members that did not sign: the rest of the committee.
    function isReached(uint256 signers, uint256 absentees) internal pure returns (bool) {
        unchecked {
            return signers > 2 * absentees;
        }
    }

    /// @notice Returns f, the number of members that can lie without a wrong value being stored: f of at least 3f + 1.
    function faultBound(uint256 members) internal pure returns (uint256) {
        unchecked {
            return (members - 1) / 3;
        }
    }
}
