// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Quorum} from "../../src/libraries/Quorum.sol";

// Each contract is one statement about every committee, for `npm run prove`: the solver has to prove the assertion of
// `proof`, and to refute that of `counterexample`, a false variant under the same conditions. Committees have at most
// 255 members; what is proven here holds for more.

contract QuorumIsMoreThanTwoThirds {
    function proof(uint64 signers, uint64 absentees) external pure {
        uint256 members = uint256(signers) + absentees;
        assert(Quorum.isReached(signers, absentees) == (3 * uint256(signers) > 2 * members));
    }

    function counterexample(uint64 signers, uint64 absentees) external pure {
        uint256 members = uint256(signers) + absentees;
        assert(Quorum.isReached(signers, absentees) == (3 * uint256(signers) >= 2 * members));
    }
}

contract FaultBoundIsAThird {
    function proof(uint64 members) external pure {
        require(members > 0);
        uint256 faults = Quorum.faultBound(members);
        assert(3 * faults + 1 <= members && members <= 3 * faults + 3);
    }

    function counterexample(uint64 members) external pure {
        require(members > 0);
        uint256 faults = Quorum.faultBound(members);
        assert(3 * faults + 1 <= members && members <= 3 * faults + 2);
    }
}

/// Of n members, at least s + t - n are in both of two sets of s and t members.
contract TwoQuorumsShareMoreThanTheFaults {
    function proof(uint64 first, uint64 second, uint64 members) external pure {
        require(members > 0 && first <= members && second <= members);
        require(Quorum.isReached(first, members - first) && Quorum.isReached(second, members - second));
        assert(uint256(first) + second - members > Quorum.faultBound(members));
    }

    function counterexample(uint64 first, uint64 second, uint64 members) external pure {
        require(members > 0 && first <= members && second <= members);
        require(Quorum.isReached(first, members - first) && Quorum.isReached(second, members - second));
        assert(uint256(first) + second - members > Quorum.faultBound(members) + 1);
    }
}
