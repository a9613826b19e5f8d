// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Committee, CommitteeLibrary} from "../../src/types/Committee.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

contract CommitteeVectorsTest is VectorFixture {
    function test_hash_matchesTheVectors() public {
        load("committees", "committees");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            address[] memory members = accounts(i, "members");
            uint256 toleranceBps = number(i, "toleranceBps");
            bytes32 hash = word(i, "hash");
            assertEq(CommitteeLibrary.checkedHash(members, toleranceBps), hash, text(i, "name"));

            Committee committee = CommitteeLibrary.create(toleranceBps, members.length);
            for (uint256 place = 0; place < members.length; ++place) {
                committee.setMember(place, uint160(members[place]));
            }
            assertEq(committee.hash(members.length), hash, text(i, "name"));
        }
    }
}
