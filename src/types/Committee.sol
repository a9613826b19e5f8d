// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {IDataset} from "../interfaces/IDataset.sol";

/// @notice A committee and its tolerance, being laid out in memory: the tolerance, then one word for each member.
/// @dev A signature that recovers to nobody seats the zero address. No real member is, so such a list never has a stored
/// hash.
type Committee is uint256;

using CommitteeLibrary for Committee global;

/// @title CommitteeLibrary
/// @notice Seats members at their places, and hashes the whole.
library CommitteeLibrary {
    uint256 internal constant MAX_MEMBERS = 255;
    uint256 internal constant MAX_TOLERANCE_BPS = 10_000;

    /// @notice A committee of `members` seats, which hold anything until they are written.
    function create(uint256 toleranceBps, uint256 members) internal pure returns (Committee committee) {
        assembly ("memory-safe") {
            committee := mload(0x40)
            mstore(0x40, add(committee, add(0x20, shl(5, members))))
            mstore(committee, toleranceBps)
        }
    }

    /// @notice Writes a member to its place.
    /// @param member An address as one word. A word with more in it is no member's, and the hash is another.
    /// @dev Assumes `place` < the number of seats; the caller has checked it.
    function seat(Committee committee, uint256 place, uint256 member) internal pure {
        assembly ("memory-safe") {
            mstore(add(add(committee, 0x20), shl(5, place)), member)
        }
    }

    /// @notice Writes a member to its place.
    /// @dev Assumes `place` < the number of seats; the caller has checked it.
    function seat(Committee committee, uint256 place, address member) internal pure {
        assembly ("memory-safe") {
            mstore(add(add(committee, 0x20), shl(5, place)), member)
        }
    }

    /// @notice keccak256 of the tolerance and the members, each in 32 bytes.
    function hash(Committee committee, uint256 members) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(committee, add(0x20, shl(5, members)))
        }
    }

    /// @notice The hash of a whole committee at once.
    function hashOf(address[] memory members, uint256 toleranceBps) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(toleranceBps, members));
    }

    /// @notice The hash of a whole committee at once, refused when it makes no sense.
    function checkedHash(address[] memory members, uint256 toleranceBps) internal pure returns (bytes32) {
        if (members.length == 0 || members.length > MAX_MEMBERS) {
            revert IDataset.WrongCommitteeSize(members.length, MAX_MEMBERS);
        }
        if (toleranceBps > MAX_TOLERANCE_BPS) revert IDataset.ToleranceTooHigh(toleranceBps, MAX_TOLERANCE_BPS);
        address previous = address(0);
        for (uint256 i = 0; i < members.length; ++i) {
            if (members[i] <= previous) revert IDataset.UnsortedCommittee(previous, members[i]);
            previous = members[i];
        }
        return hashOf(members, toleranceBps);
    }
}
