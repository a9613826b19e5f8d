// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title Quorum
/// @notice How many members of a committee must agree, and how many may lie.
library Quorum {
    /// @notice Whether the signers are more than two thirds of the committee.
    /// @param absentees The members who did not sign: the rest of the committee.
    function isReached(uint256 signers, uint256 absentees) internal pure returns (bool) {
        unchecked {
            return signers > 2 * absentees;
        }
    }

    /// @notice The most members that may lie without a wrong value being stored: f of at least 3f + 1.
    function faultBound(uint256 members) internal pure returns (uint256) {
        unchecked {
            return (members - 1) / 3;
        }
    }
}
