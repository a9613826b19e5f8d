// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {ICommitteeDirectory} from "../../src/interfaces/ICommitteeDirectory.sol";
import {ReferenceAnnouncements} from "../utils/ReferenceAnnouncements.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

contract AnnouncementVectorsTest is VectorFixture {
    function test_announce_acceptsTheVectors() public {
        load("announcements", "announcements");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            vm.chainId(number(i, "chainId"));
            bytes memory signature = hexBytes(i, "signature");
            assertEq(_digest(i), word(i, "digest"), text(i, "name"));
            (uint8 v, bytes32 r, bytes32 s) = vm.sign(uint256(word(i, "privateKey")), word(i, "digest"));
            assertEq(abi.encodePacked(r, s, v), signature, text(i, "name"));

            address directory = account(i, "directory");
            deployCodeTo("CommitteeDirectory.sol:CommitteeDirectory", directory);
            vm.warp(number(i, "issuedAt"));
            ICommitteeDirectory(directory)
                .announce(account(i, "provider"), text(i, "url"), number(i, "issuedAt"), signature);
        }
    }

    function _digest(uint256 index) private view returns (bytes32) {
        return ReferenceAnnouncements.digest(
            account(index, "directory"), account(index, "provider"), text(index, "url"), number(index, "issuedAt")
        );
    }
}
