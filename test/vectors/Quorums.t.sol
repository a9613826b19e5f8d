// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Quorum} from "../../src/libraries/Quorum.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

contract QuorumVectorsTest is VectorFixture {
    function test_isReached_matchesTheVectors() public {
        load("quorum", "counts");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            uint256 signers = number(i, "signers");
            assertEq(Quorum.isReached(signers, number(i, "members") - signers), flag(i, "quorum"));
        }
    }

    function test_faultBound_matchesTheVectors() public {
        load("quorum", "faultBounds");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            assertEq(Quorum.faultBound(number(i, "members")), number(i, "faults"));
        }
    }
}
