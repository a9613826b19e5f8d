// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Dataset} from "./Dataset.sol";
import {DatasetSettings, Report} from "./interfaces/IDataset.sol";
import {Quorum} from "./libraries/Quorum.sol";

/// @title MedianDataset
/// @notice Numbers of up to 208 bits, of which the committee's median is stored.
contract MedianDataset is Dataset {
    uint256 private constant BPS = 10_000;

    constructor(DatasetSettings memory settings) Dataset(settings) {}

    /// @inheritdoc Dataset
    /// @dev The lower middle value, which somebody signed. OK if all but at most f of the values lie within the
    /// tolerance of it: |value - median| * 10,000 <= tolerance * median.
    function _aggregate(Report[] calldata reports, uint256 members, uint256 toleranceBps)
        internal
        pure
        override
        returns (bytes32 value, QueryStatus status)
    {
        uint256 last = reports.length - 1;
        if (uint256(reports[last].value) > type(uint208).max) {
            revert ValueTooLarge(reports[last].value, type(uint208).max);
        }

        uint256 median = uint256(reports[last / 2].value);
        uint256 reach = median * toleranceBps / BPS;
        // The values ascend, so those outside the tolerance stand at the two ends.
        uint256 first = 0;
        while (uint256(reports[first].value) < median - reach) ++first;
        while (uint256(reports[last].value) > median + reach) --last;
        uint256 outliers = reports.length - (last + 1 - first);
        if (outliers > Quorum.faultBound(members)) return (0, QueryStatus.DISAGREEMENT);
        return (bytes32(median), QueryStatus.OK);
    }
}
