// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Dataset} from "./Dataset.sol";
import {DatasetSettings, Report} from "./interfaces/IDataset.sol";
import {Calldata} from "./libraries/Calldata.sol";
import {Quorum} from "./libraries/Quorum.sol";

/// @title MedianDataset
/// @notice Numbers of up to 208 bits, of which the committee's median is stored.
contract MedianDataset is Dataset {
    uint256 private constant BPS = 10_000;

    constructor(DatasetSettings memory settings) Dataset(settings) {}

    /// @inheritdoc Dataset
    /// @dev The median is the lower middle value, which somebody signed: at most (k - 1) / 2 of k values lie below it and
    /// at most k / 2 above. Nothing else passes, a value that nobody signed neither: all k would lie below or above it.
    /// OK if all but at most f of the values lie within the tolerance: |value - median| * 10,000 <= tolerance * median.
    function _judge(bytes32 value, uint256 toleranceBps, Report[] calldata reports, uint256 absent)
        internal
        pure
        override
        returns (QueryStatus)
    {
        uint256 median = uint256(value);
        if (median > type(uint208).max) revert ValueTooLarge(value, type(uint208).max);
        // A median of 208 bits times a tolerance of at most 10,000 overflows nothing; the rest counts reports.
        unchecked {
            uint256 reach = median * toleranceBps / BPS;
            (uint256 lowest, uint256 highest) = (median - reach, median + reach);

            (uint256 below, uint256 above, uint256 outliers) = (0, 0, 0);
            for (uint256 i = 0; i < reports.length; ++i) {
                uint256 reported = uint256(Calldata.item(reports, i).value);
                if (reported < median) {
                    ++below;
                    if (reported < lowest) ++outliers;
                } else if (reported > median) {
                    ++above;
                    if (reported > highest) ++outliers;
                }
            }
            if (below > (reports.length - 1) / 2 || above > reports.length / 2) revert WrongValue(value, below, above);
            return outliers > Quorum.faultBound(reports.length + absent) ? QueryStatus.DISAGREEMENT : QueryStatus.OK;
        }
    }
}
