// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {MedianRules} from "../../src/libraries/MedianRules.sol";
import {Quorum} from "../../src/libraries/Quorum.sol";

// Statements about every median, for `npm run prove`: QuorumProofs.sol says how to read them.

/// Besides the median itself, at least f values are not above it, and at least f are not below it: f liars cannot be
/// the median and all values on one side of it.
contract LowerMiddleHasTheFaultsOnEachSide {
    function proof(uint64 below, uint64 above, uint64 present, uint64 members) external pure {
        require(members > 0 && present <= members && below <= present && above <= present);
        require(Quorum.isReached(present, members - present));
        require(!MedianRules.isTooHigh(below, present) && !MedianRules.isTooLow(above, present));
        uint256 faults = Quorum.faultBound(members);
        assert(present - above >= faults + 1 && present - below >= faults + 1);
    }

    function counterexample(uint64 below, uint64 above, uint64 present, uint64 members) external pure {
        require(members > 0 && present <= members && below <= present && above <= present);
        require(Quorum.isReached(present, members - present));
        require(!MedianRules.isTooHigh(below, present) && !MedianRules.isTooLow(above, present));
        uint256 faults = Quorum.faultBound(members);
        assert(present - above >= faults + 2 && present - below >= faults + 2);
    }
}

/// |value - median| <= maxDistance if and only if |value - median| * 10,000 <= tolerance * median.
contract ToleranceDistanceIsExact {
    function proof(uint256 value, uint208 median, uint256 toleranceBps) external pure {
        require(toleranceBps <= 10_000);
        uint256 distance = value < median ? median - value : value - median;
        // Beyond this, the product does not fit a word, and the value is an outlier in both forms.
        if (distance > type(uint256).max / 10_000) {
            assert(distance > MedianRules.toleranceDistance(median, toleranceBps));
        } else {
            assert(
                (distance <= MedianRules.toleranceDistance(median, toleranceBps))
                    == (distance * 10_000 <= toleranceBps * median)
            );
        }
    }

    function counterexample(uint256 value, uint208 median, uint256 toleranceBps) external pure {
        require(toleranceBps <= 10_000);
        uint256 distance = value < median ? median - value : value - median;
        require(distance <= type(uint256).max / 10_000);
        assert(
            (distance < MedianRules.toleranceDistance(median, toleranceBps))
                == (distance * 10_000 < toleranceBps * median)
        );
    }
}

/// The product does not wrap around, and the range of `ReportedValues.tally` around the median fits in a word.
contract ToleranceDistanceDoesNotOverflow {
    function proof(uint208 median, uint256 toleranceBps) external pure {
        require(toleranceBps <= 10_000);
        uint256 maxDistance = MedianRules.toleranceDistance(median, toleranceBps);
        assert(maxDistance == uint256(median) * toleranceBps / 10_000);
        assert(maxDistance <= median && uint256(median) + maxDistance < 2 ** 209);
    }

    function counterexample(uint256 median, uint256 toleranceBps) external pure {
        require(toleranceBps <= 10_000 && toleranceBps > 0);
        assert(MedianRules.toleranceDistance(median, toleranceBps) >= median / 10_000);
    }
}
