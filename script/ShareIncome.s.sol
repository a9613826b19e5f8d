// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetScript} from "./base/DatasetScript.sol";

/// @notice Shares the income of DATASET among its committee, or that of a former committee if FORMER_MEMBERS and
/// FORMER_TOLERANCE_BPS name one. Anyone may run it.
contract ShareIncome is DatasetScript {
    function run() external checked {
        (address[] memory members, uint256 toleranceBps) =
            _isSet("FORMER_MEMBERS") ? _formerCommittee() : _currentCommittee();
        _shareIncome("signer", msg.sender, members, toleranceBps);
        _finish();
    }

    function _formerCommittee() private view returns (address[] memory members, uint256 toleranceBps) {
        _requireSet("FORMER_TOLERANCE_BPS", "the tolerance of FORMER_MEMBERS, in basis points");
        return (_addressVariables("FORMER_MEMBERS"), _uintVariable("FORMER_TOLERANCE_BPS"));
    }
}
