// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Committee, CommitteeLibrary} from "../../src/types/Committee.sol";

contract CommitteeTest is Test {
    function testFuzz_hash_matchesTheConcatenatedWords(uint256 toleranceBps, address[] memory members) public pure {
        _assertHash(toleranceBps, members);
    }

    function test_hash_supports255Members() public pure {
        address[] memory members = new address[](255);
        for (uint256 i = 0; i < members.length; ++i) {
            members[i] = address(uint160(uint256(keccak256(abi.encode(i)))));
        }
        _assertHash(10_000, members);
    }

    function testFuzz_hash_changesWhenAWordIsDirty(address member, uint96 dirt) public pure {
        vm.assume(dirt != 0);
        Committee clean = CommitteeLibrary.create(0, 1);
        clean.seat(0, member);
        Committee dirty = CommitteeLibrary.create(0, 1);
        dirty.seat(0, uint160(member) | (uint256(dirt) << 160));
        assertNotEq(dirty.hash(1), clean.hash(1));
    }

    function testFuzz_seat_isTheSameForAnAddressAndItsWord(address[3] memory members) public pure {
        Committee byAddress = CommitteeLibrary.create(0, members.length);
        Committee byWord = CommitteeLibrary.create(0, members.length);
        for (uint256 place = 0; place < members.length; ++place) {
            byAddress.seat(place, members[place]);
            byWord.seat(place, uint160(members[place]));
        }
        assertEq(byAddress.hash(members.length), byWord.hash(members.length));
    }

    function testFuzz_create_overlapsNothing(uint256 toleranceBps, uint8 size, bytes memory before) public pure {
        bytes32 hash = keccak256(before);
        Committee committee = CommitteeLibrary.create(toleranceBps, size);
        bytes memory afterwards = new bytes(64);
        for (uint256 place = 0; place < size; ++place) {
            committee.seat(place, type(uint256).max);
        }
        assertEq(keccak256(before), hash);
        assertEq(keccak256(afterwards), keccak256(new bytes(64)));
    }

    /// @dev Writes from the last member to the first: the order does not matter.
    function _assertHash(uint256 toleranceBps, address[] memory members) private pure {
        Committee committee = CommitteeLibrary.create(toleranceBps, members.length);
        for (uint256 place = members.length; place > 0; --place) {
            committee.seat(place - 1, uint160(members[place - 1]));
        }
        assertEq(committee.hash(members.length), keccak256(abi.encodePacked(toleranceBps, members)));
    }
}
