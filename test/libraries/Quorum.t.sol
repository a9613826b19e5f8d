// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Quorum} from "../../src/libraries/Quorum.sol";

contract QuorumTest is Test {
    function testFuzz_isReached_byMoreThanTwoThirds(uint256 members, uint256 signers) public pure {
        members = bound(members, 1, 255);
        signers = bound(signers, 0, members);
        assertEq(Quorum.isReached(signers, members - signers), 3 * signers > 2 * members);
    }

    /// Any two quorums share an honest member, and honest members are a majority of each.
    function testFuzz_faultBound_isTheMostAQuorumTolerates(uint256 members) public pure {
        members = bound(members, 1, 255);
        uint256 faults = Quorum.faultBound(members);
        uint256 least = 0;
        while (!Quorum.isReached(least, members - least)) ++least;
        assertLt(3 * faults, members);
        assertGe(3 * (faults + 1), members);
        assertGt(2 * least - members, faults);
        assertGt(least - faults, faults);
        assertLe(least, members - faults);
    }
}
