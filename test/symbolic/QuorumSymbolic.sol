// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Quorum} from "../../src/libraries/Quorum.sol";

/// @notice The bounds of every committee that a dataset takes, of 1 to 255 members.
contract QuorumSymbolic {
    function check_isReached_byMoreThanTwoThirds(uint8 signers, uint8 members) external pure {
        if (signers > members) return;
        assert(Quorum.isReached(signers, members - signers) == (3 * uint256(signers) > 2 * uint256(members)));
    }

    function refute_isReached_byTwoThirds(uint8 signers, uint8 members) external pure {
        if (signers > members) return;
        assert(Quorum.isReached(signers, members - signers) == (3 * uint256(signers) >= 2 * uint256(members)));
    }

    /// Two quorums share more members than can lie, so at least one honest member is in both.
    function check_isReached_twoQuorumsShareAnHonestMember(uint8 first, uint8 second, uint8 members) external pure {
        if (members == 0 || first > members || second > members) return;
        if (!Quorum.isReached(first, members - first) || !Quorum.isReached(second, members - second)) return;
        assert(uint256(first) + second > Quorum.faultBound(members) + members);
    }

    function refute_isReached_twoQuorumsShareTwoHonestMembers(uint8 first, uint8 second, uint8 members) external pure {
        if (members == 0 || first > members || second > members) return;
        if (!Quorum.isReached(first, members - first) || !Quorum.isReached(second, members - second)) return;
        assert(uint256(first) + second > Quorum.faultBound(members) + members + 1);
    }

    /// f is the largest number of liars that leaves a quorum of honest members.
    function check_faultBound_leavesAQuorum(uint8 members) external pure {
        if (members == 0) return;
        uint256 faults = Quorum.faultBound(members);
        assert(Quorum.isReached(members - faults, faults));
        assert(!Quorum.isReached(members - faults - 1, faults + 1));
    }

    function refute_faultBound_isMoreThanAThird(uint8 members) external pure {
        if (members == 0) return;
        assert(3 * Quorum.faultBound(members) + 3 > members);
    }
}
