// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {Update} from "./Updates.sol";
import {ReferenceReports} from "./ReferenceReports.sol";

/// @notice Computes the hash of the committee that an update shows, in plain Solidity.
library ReferenceCommittee {
    function shown(address dataset, Update memory update, Oracle.QueryStatus outcome) internal view returns (bytes32) {
        address[] memory members = new address[](update.reports.length + update.absentees.length);
        uint256 reported = 0;
        for (uint256 place = 0; place < members.length; ++place) {
            if ((update.signers >> place) & 1 == 0) {
                members[place] = update.absentees[place - reported];
            } else {
                bytes32 value = update.reports[reported].content;
                bytes32 digest = ReferenceReports.digest(dataset, update.key, outcome, value, update.timestamp);
                members[place] =
                    ReferenceReports.recover(digest, update.reports[reported].r, update.reports[reported].vs);
                ++reported;
            }
        }
        return keccak256(abi.encodePacked(update.toleranceBps, members));
    }
}
