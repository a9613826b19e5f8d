// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle, OracleProtocol, usingOracleProtocol} from "../../src/usingOracleProtocol.sol";

/// @notice Reads in a `view` function, by every helper that needs a subscription.
contract SubscribedConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    function read(uint256 helper, Oracle oracle, uint256 maxAge) external view returns (uint256) {
        if (helper == 0) return oracle.readSpotPrice("ETH-USD", maxAge);
        if (helper == 1) return oracle.readUint("SPOTPX/ETH-USD", maxAge);
        return uint256(oracle.readBytes32("SPOTPX/ETH-USD", maxAge));
    }
}
