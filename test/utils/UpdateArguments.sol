// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {ReferencePacking} from "./ReferencePacking.sol";

/// @notice One provider's signature and the content that it covers.
/// @param content The reported value; in a batch, a bitmap of the keys for which the provider has no data, lowest bit
/// first.
struct Report {
    bytes32 content;
    bytes32 r;
    bytes32 vs;
}

/// @notice What an update of one key says, so that a test can change one thing of it.
struct Update {
    bytes key;
    uint256 timestamp;
    bytes32 value;
    uint256 toleranceBps;
    uint256 signers;
    Report[] reports;
    address[] absentees;
}

/// @notice What a batch says.
/// @param picks One byte for each key: the index of the row whose value is claimed.
/// @param values Row by row, one value for each key.
struct Batch {
    bytes32[] keyHashes;
    bytes picks;
    uint256 timestamp;
    bytes32[] values;
    uint256 signers;
    Report[] rows;
    address[] absentees;
    uint256 toleranceBps;
}

using UpdateLibrary for Update global;
using BatchLibrary for Batch global;

library UpdateLibrary {
    function send(Update memory self, IDataset dataset) internal returns (Oracle.QueryStatus status) {
        (status,) = dataset.update(self.pack());
    }

    function sendNotAvailable(Update memory self, IDataset dataset) internal returns (Oracle.QueryStatus status) {
        (status,) = dataset.updateNotAvailable(self.packNotAvailable());
    }

    /// @notice Returns the update with values.
    function pack(Update memory self) internal pure returns (bytes memory) {
        return ReferencePacking.packValues(self);
    }

    /// @notice Returns the update without data.
    function packNotAvailable(Update memory self) internal pure returns (bytes memory) {
        return ReferencePacking.packNoData(self);
    }

    /// @notice Returns the calldata of `send`.
    function encode(Update memory self) internal pure returns (bytes memory) {
        return abi.encodeCall(IDataset.update, (self.pack()));
    }

    /// @notice Returns the calldata of `sendNotAvailable`.
    function encodeNotAvailable(Update memory self) internal pure returns (bytes memory) {
        return abi.encodeCall(IDataset.updateNotAvailable, (self.packNotAvailable()));
    }
}

library BatchLibrary {
    function send(Batch memory self, IDataset dataset) internal returns (IDataset.KeyOutcome[] memory) {
        return dataset.updateBatch(self.pack());
    }

    function pack(Batch memory self) internal pure returns (bytes memory) {
        return ReferencePacking.packBatch(self);
    }

    /// @notice Returns the calldata of `send`.
    function encode(Batch memory self) internal pure returns (bytes memory) {
        return abi.encodeCall(IDataset.updateBatch, (self.pack()));
    }

    /// @notice Returns the values of one row.
    function valuesOf(Batch memory self, uint256 row) internal pure returns (bytes32[] memory values) {
        values = new bytes32[](self.keyHashes.length);
        for (uint256 i = 0; i < values.length; ++i) {
            values[i] = self.values[row * values.length + i];
        }
    }
}
