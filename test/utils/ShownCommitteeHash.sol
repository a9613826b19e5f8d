// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {ReferenceReports} from "./ReferenceReports.sol";
import {Batch, Report, Update} from "./UpdateArguments.sol";

/// @notice Computes the hash of the committee that an update or a batch shows, in plain Solidity.
library ShownCommitteeHash {
    function shown(address dataset, Update memory update, Oracle.QueryStatus outcome) internal view returns (bytes32) {
        bytes32[] memory digests = new bytes32[](update.reports.length);
        for (uint256 i = 0; i < digests.length; ++i) {
            bytes32 value = update.reports[i].content;
            digests[i] = ReferenceReports.digest(dataset, update.key, outcome, value, update.timestamp);
        }
        return _hash(update.signers, update.reports, digests, update.absentees, update.toleranceBps);
    }

    function shown(address dataset, Batch memory batch) internal view returns (bytes32) {
        bytes32[] memory digests = new bytes32[](batch.rows.length);
        for (uint256 i = 0; i < digests.length; ++i) {
            digests[i] = ReferenceReports.batchDigest(dataset, batch, i);
        }
        return _hash(batch.signers, batch.rows, digests, batch.absentees, batch.toleranceBps);
    }

    function _hash(
        uint256 signers,
        Report[] memory reports,
        bytes32[] memory digests,
        address[] memory absentees,
        uint256 toleranceBps
    ) private pure returns (bytes32) {
        address[] memory members = new address[](reports.length + absentees.length);
        uint256 reported = 0;
        for (uint256 place = 0; place < members.length; ++place) {
            if ((signers >> place) & 1 == 0) {
                members[place] = absentees[place - reported];
            } else {
                Report memory report = reports[reported];
                members[place] = ReferenceReports.recover(digests[reported], report.r, report.vs);
                ++reported;
            }
        }
        return keccak256(abi.encodePacked(toleranceBps, members));
    }
}
