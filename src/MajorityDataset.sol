// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Dataset} from "./Dataset.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {ReportedValues} from "./types/ReportedValues.sol";
import {DataPoint} from "./types/DataPoint.sol";

/// @title MajorityDataset
/// @notice Stores the 32-byte value that more than half of the whole committee signed.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract MajorityDataset is Dataset {
    /// @dev A data point holds a number from here on for a text of at most 25 bytes, which is left-aligned: its last seven
    /// bytes, which are zeros, are left out.
    uint256 private constant TEXT = 2 ** 206;
    uint256 private constant TEXT_SHIFT = 56;

    /// @dev A data point holds this for a value that has a slot of its own.
    uint256 private constant OUTSIDE = 2 ** 207;

    constructor(DatasetSettings memory settings) Dataset(settings) {}

    /// @inheritdoc IDataset
    /// @dev The name is chosen for its selector, which is greater than a query's: `costOfSubscription` says why.
    function judgement() external pure returns (Judgement) {
        return Judgement.MAJORITY;
    }

    /// @inheritdoc Dataset
    /// @dev Returns OK if more than half of the committee signed `value`, WRONG_CLAIM if they signed another one, and
    /// DISAGREEMENT if no value has such a majority, but UNDECIDED while the absent members could still give the most
    /// frequent value a majority. A value that nobody signed is a WRONG_CLAIM, too.
    function _judge(bytes32 value, uint256, uint256 absent) internal pure override returns (KeyOutcome, QueryStatus) {
        uint256 members = ReportedValues.present() + absent;
        uint256 frequency = _frequency(value);
        if (frequency * 2 > members) return (KeyOutcome.STORED, QueryStatus.OK);

        (, uint256 count) = _mostFrequent();
        if (count * 2 > members) return (KeyOutcome.WRONG_CLAIM, QueryStatus.INVALID);
        if ((count + absent) * 2 > members) return (KeyOutcome.UNDECIDED, QueryStatus.INVALID);
        // What is stored does not depend on the claim then. It must be one of the values all the same, so that nobody can
        // change an update and have it stored.
        if (frequency == 0) return (KeyOutcome.WRONG_CLAIM, QueryStatus.INVALID);
        return (KeyOutcome.STORED, QueryStatus.DISAGREEMENT);
    }

    /// @inheritdoc Dataset
    function _revertWrongClaim(bytes32 value) internal pure override {
        (bytes32 majority,) = _mostFrequent();
        revert WrongMajority(value, majority);
    }

    /// @inheritdoc Dataset
    function _maxValue() internal pure override returns (uint256) {
        return type(uint256).max;
    }

    /// @inheritdoc Dataset
    /// @dev A new slot costs more than all else, so numbers below `TEXT` and short texts need none.
    function _save(Slot storage slot, bytes32 value) internal override returns (uint256) {
        uint256 number = uint256(value);
        if (number < TEXT) return number;
        if (number << (256 - TEXT_SHIFT) == 0) return TEXT | (number >> TEXT_SHIFT);
        slot.value = value;
        return OUTSIDE;
    }

    /// @inheritdoc Dataset
    function _load(Slot storage slot, DataPoint point) internal view override returns (bytes32) {
        uint256 packed = point.value();
        if (packed >= OUTSIDE) return slot.value;
        // The shift drops the bit that says that it is a text.
        return bytes32(packed < TEXT ? packed : packed << TEXT_SHIFT);
    }

    function _frequency(bytes32 value) private pure returns (uint256 count) {
        for (uint256 row = 0; row < ReportedValues.count(); ++row) {
            if (ReportedValues.word(row) == value && (ReportedValues.missing() >> row) & 1 == 0) ++count;
        }
    }

    /// @dev Takes quadratic time. Only an update whose claim has no majority pays for it.
    function _mostFrequent() private pure returns (bytes32 value, uint256 count) {
        for (uint256 row = 0; row < ReportedValues.count(); ++row) {
            if ((ReportedValues.missing() >> row) & 1 == 1) continue;
            uint256 equal = _frequency(ReportedValues.word(row));
            if (equal > count) (value, count) = (ReportedValues.word(row), equal);
        }
    }
}
