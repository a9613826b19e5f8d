// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Dataset} from "./Dataset.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {MedianRules} from "./libraries/MedianRules.sol";
import {Quorum} from "./libraries/Quorum.sol";
import {ReportedValues} from "./types/ReportedValues.sol";
import {DataPoint} from "./types/DataPoint.sol";

/// @title MedianDataset
/// @notice Stores the median of the numbers, of up to 208 bits, that the committee reports.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract MedianDataset is Dataset {
    constructor(DatasetSettings memory settings) Dataset(settings) {}

    /// @inheritdoc IDataset
    /// @dev The name is chosen for its selector, which is greater than a query's: `costOfSubscription` says why.
    function judgement() external pure returns (Judgement) {
        return Judgement.MEDIAN;
    }

    /// @inheritdoc Dataset
    /// @dev The claim must be the lower median: of k values at most (k - 1) / 2 lie below it and at most k / 2 above
    /// it. A value that no member signed is wrong too, because all k values would lie below or above it. The status is
    /// OK if all but at most f of the values lie within the tolerance: |value - median| * 10,000 <= tolerance * median.
    function _judge(bytes32 value, uint256 toleranceBps, uint256 absent)
        internal
        pure
        override
        returns (KeyOutcome, QueryStatus)
    {
        uint256 median = uint256(value);
        unchecked {
            uint256 maxDistance = MedianRules.toleranceDistance(median, toleranceBps);
            // The claim has at most 208 bits, and the distance is at most the claim: nothing overflows.
            (uint256 below, uint256 above, uint256 outliers) =
                ReportedValues.tally(median, median - maxDistance, 2 * maxDistance);
            uint256 present = ReportedValues.present();
            if (MedianRules.isTooHigh(below, present)) return (KeyOutcome.WRONG_CLAIM, QueryStatus.INVALID);
            if (MedianRules.isTooLow(above, present)) return (KeyOutcome.WRONG_CLAIM, QueryStatus.INVALID);
            bool isAgreed = outliers <= Quorum.faultBound(present + absent);
            return (KeyOutcome.STORED, isAgreed ? QueryStatus.OK : QueryStatus.DISAGREEMENT);
        }
    }

    /// @inheritdoc Dataset
    function _revertWrongClaim(bytes32 value) internal pure override {
        (uint256 below, uint256 above,) = ReportedValues.tallyOneByOne(uint256(value), 0, 0);
        revert WrongMedian(value, below, above);
    }

    /// @inheritdoc Dataset
    function _maxValue() internal pure override returns (uint256) {
        return type(uint208).max;
    }

    /// @inheritdoc Dataset
    function _save(Slot storage, bytes32 value) internal pure override returns (uint256) {
        return uint256(value);
    }

    /// @inheritdoc Dataset
    function _load(Slot storage, DataPoint point) internal pure override returns (bytes32) {
        return bytes32(point.value());
    }
}
