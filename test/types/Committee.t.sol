// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Committee, CommitteeLibrary} from "../../src/types/Committee.sol";

contract CommitteeTest is Test {
    function testFuzz_hash_matchesTheConcatenatedWords(uint256 toleranceBps, address[] memory members) public pure {
        _assertHash(toleranceBps, members);
    }

    function testFuzz_create_overlapsNothing(uint256 toleranceBps, uint8 size, bytes memory before) public pure {
        bytes32 hash = keccak256(before);
        Committee committee = CommitteeLibrary.create(toleranceBps, size);
        bytes memory afterwards = new bytes(64);
        for (uint256 place = 0; place < size; ++place) {
            committee.setMember(place, type(uint256).max);
        }
        assertEq(keccak256(before), hash);
        assertEq(keccak256(afterwards), keccak256(new bytes(64)));
    }

    // ---------------------------------------------------------------- copies of calldata

    function testFuzz_copy_isTheWholeCommittee(uint256 toleranceBps, address[] memory members) public view {
        Copied memory found = this.copied(members, toleranceBps);
        assertEq(found.hash, keccak256(abi.encodePacked(toleranceBps, members)), "hash");
        assertEq(found.members, members);
    }

    function testFuzz_copyWithout_leavesOutOneMember(uint256 toleranceBps, address[] memory members, uint256 place)
        public
        view
    {
        vm.assume(members.length > 0);
        place %= members.length;
        address[] memory rest = new address[](members.length - 1);
        for (uint256 i = 0; i < rest.length; ++i) {
            rest[i] = members[i < place ? i : i + 1];
        }
        Copied memory found = this.copiedWithout(members, toleranceBps, place);
        assertEq(found.hash, keccak256(abi.encodePacked(toleranceBps, rest)), "hash");
        assertEq(found.members, rest);
    }

    struct Copied {
        bytes32 hash;
        address[] members;
    }

    /// @dev External, so that the members are in calldata.
    function copied(address[] calldata members, uint256 toleranceBps) external pure returns (Copied memory result) {
        Committee committee = CommitteeLibrary.copy(members, toleranceBps);
        _requireUntouched(new bytes(64));
        result.hash = committee.hash(members.length);
        result.members = committee.intoMembers(members.length);
    }

    function copiedWithout(address[] calldata members, uint256 toleranceBps, uint256 place)
        external
        pure
        returns (Copied memory result)
    {
        Committee committee = CommitteeLibrary.copyWithout(members, toleranceBps, place);
        _requireUntouched(new bytes(64));
        result.hash = committee.hash(members.length - 1);
        result.members = committee.intoMembers(members.length - 1);
    }

    /// @dev Memory that is allocated next overlaps no copy.
    function _requireUntouched(bytes memory next) private pure {
        for (uint256 i = 0; i < next.length; ++i) {
            next[i] = 0xff;
        }
    }

    /// @dev Writes from the last member to the first: the order does not matter.
    function _assertHash(uint256 toleranceBps, address[] memory members) private pure {
        Committee committee = CommitteeLibrary.create(toleranceBps, members.length);
        for (uint256 place = members.length; place > 0; --place) {
            committee.setMember(place - 1, uint160(members[place - 1]));
        }
        assertEq(committee.hash(members.length), keccak256(abi.encodePacked(toleranceBps, members)));
    }
}
