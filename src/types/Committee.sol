// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "../interfaces/IDataset.sol";

/// @notice The hash preimage of a committee, built in memory: the tolerance, then one word for each member.
/// @dev An invalid signature recovers to the zero address. No member is zero, so such a list never has the stored hash.
type Committee is uint256;

using CommitteeLibrary for Committee global;

/// @title CommitteeLibrary
/// @notice Writes the members of a committee to memory and hashes them.
library CommitteeLibrary {
    uint256 internal constant MAX_MEMBERS = 255;
    uint256 internal constant MAX_TOLERANCE_BPS = 10_000;

    /// @notice Allocates a committee of `members` seats. Their content is undefined until they are written.
    function create(uint256 toleranceBps, uint256 members) internal pure returns (Committee committee) {
        assembly ("memory-safe") {
            committee := mload(0x40)
            mstore(0x40, add(committee, add(0x20, shl(5, members))))
            mstore(committee, toleranceBps)
        }
    }

    /// @notice Writes the member at a place.
    /// @param member An address as one word. If any of the upper 96 bits is set, the hash differs from the stored one.
    /// @dev Assumes `place` < the number of seats; the caller has checked it.
    function setMember(Committee committee, uint256 place, uint256 member) internal pure {
        assembly ("memory-safe") {
            mstore(add(add(committee, 0x20), shl(5, place)), member)
        }
    }

    /// @notice Writes a member.
    /// @param target The address in memory of its seat.
    function sit(uint256 target, uint256 member) internal pure {
        assembly ("memory-safe") {
            mstore(target, member)
        }
    }

    /// @notice Returns the address in memory of the word of the member at a place.
    /// @dev Assumes `place` < the number of seats; the caller has checked it.
    function seat(Committee committee, uint256 place) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := add(add(committee, 0x20), shl(5, place))
        }
    }

    /// @notice Returns keccak256 of the tolerance and the members, each in 32 bytes.
    function hash(Committee committee, uint256 members) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(committee, add(0x20, shl(5, members)))
        }
    }

    /// @notice Returns the hash of a whole committee.
    function hashOf(address[] memory members, uint256 toleranceBps) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(toleranceBps, members));
    }

    /// @notice Copies a whole committee. If any of the upper 96 bits of a member is set, the hash differs from the
    /// stored one.
    /// @dev Does not call `create`: with a second caller, that would no longer be inlined in updates.
    function copy(address[] calldata members, uint256 toleranceBps) internal pure returns (Committee committee) {
        assembly ("memory-safe") {
            committee := mload(0x40)
            let seats := add(committee, 0x20)
            let size := shl(5, members.length)
            mstore(0x40, add(seats, size))
            mstore(committee, toleranceBps)
            calldatacopy(seats, members.offset, size)
        }
    }

    /// @notice Copies a committee without the member at a place.
    /// @dev Assumes `place` < the number of members; the caller has checked it.
    function copyWithout(address[] calldata members, uint256 toleranceBps, uint256 place)
        internal
        pure
        returns (Committee committee)
    {
        assembly ("memory-safe") {
            committee := mload(0x40)
            let seats := add(committee, 0x20)
            let gap := add(seats, shl(5, place))
            let end := add(seats, shl(5, sub(members.length, 1)))
            mstore(0x40, end)
            mstore(committee, toleranceBps)
            calldatacopy(seats, members.offset, sub(gap, seats))
            calldatacopy(gap, add(members.offset, shl(5, add(place, 1))), sub(end, gap))
        }
    }

    /// @notice Turns a committee into an array of its members, in the same memory: it cannot be hashed any more.
    function intoMembers(Committee committee, uint256 size) internal pure returns (address[] memory members) {
        assembly ("memory-safe") {
            mstore(committee, size)
            members := committee
        }
    }

    /// @notice Returns the hash of a whole committee. Reverts with `WrongCommitteeSize`, `ToleranceTooHigh` or
    /// `UnsortedCommittee` unless the members and the tolerance are valid.
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
