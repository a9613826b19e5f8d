// SPDX-License-Identifier: MIT
pragma solidity ^0.8.21;

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";

/// @title UpdatedEvent
/// @notice Emits `IDataset.Updated` without the memory overhead of plain Solidity.
library UpdatedEvent {
    function emitUpdated(bytes32 keyHash, bytes32 value, uint256 time, Oracle.QueryStatus status) internal {
        bytes32 topic = IDataset.Updated.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, value)
            mstore(add(data, 0x20), time)
            mstore(add(data, 0x40), status)
            log2(data, 0x60, topic, keyHash)
        }
    }
}
