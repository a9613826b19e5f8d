// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {Batch, IDataset, Report} from "../../src/interfaces/IDataset.sol";

/// @notice The arguments of an update, so that a test can change one of them.
struct Update {
    bytes key;
    uint256 timestamp;
    bytes32 value;
    uint256 toleranceBps;
    uint256 signers;
    Report[] reports;
    address[] absentees;
}

using UpdateLibrary for Update global;

library UpdateLibrary {
    function send(Update memory self, IDataset dataset) internal returns (Oracle.QueryStatus status) {
        (status,) = dataset.update(
            self.key, self.timestamp, self.value, self.signers, self.reports, self.absentees, self.toleranceBps
        );
    }

    function sendNotAvailable(Update memory self, IDataset dataset) internal returns (Oracle.QueryStatus status) {
        (status,) = dataset.updateNotAvailable(
            self.key, self.timestamp, self.signers, self.reports, self.absentees, self.toleranceBps
        );
    }

    /// @notice Returns the calldata of `send`.
    function encode(Update memory self) internal pure returns (bytes memory) {
        return abi.encodeCall(
            IDataset.update,
            (self.key, self.timestamp, self.value, self.signers, self.reports, self.absentees, self.toleranceBps)
        );
    }

    /// @notice Returns the calldata of `sendNotAvailable`.
    function encodeNotAvailable(Update memory self) internal pure returns (bytes memory) {
        return abi.encodeCall(
            IDataset.updateNotAvailable,
            (self.key, self.timestamp, self.signers, self.reports, self.absentees, self.toleranceBps)
        );
    }
}

library BatchLibrary {
    function send(Batch memory self, IDataset dataset) internal returns (IDataset.KeyOutcome[] memory) {
        return dataset.updateBatch(self);
    }

    /// @notice Returns the values of one row.
    function valuesOf(Batch memory self, uint256 row) internal pure returns (bytes32[] memory values) {
        values = new bytes32[](self.keyHashes.length);
        for (uint256 i = 0; i < values.length; ++i) {
            values[i] = self.values[row * values.length + i];
        }
    }
}

/// @notice Returns true for the selectors of the dataset's three functions that store an update.
function isUpdateSelector(bytes4 selector) pure returns (bool) {
    return selector == IDataset.update.selector || selector == IDataset.updateNotAvailable.selector
        || selector == IDataset.updateBatch.selector;
}
