// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle, OracleProtocol, usingOracleProtocol} from "../../src/usingOracleProtocol.sol";

/// @notice Reads with an update that the caller brings, by every helper.
contract UpdateHelpersConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    constructor() payable {}

    function updateAndQuery(uint256 helper, Oracle oracle, bytes calldata update, uint256 maxAge)
        external
        returns (uint256)
    {
        if (helper == 0) return oracle.updateAndQuerySpotPrice("ETH-USD", update, maxAge);
        if (helper == 1) return oracle.updateAndQueryUint("SPOTPX/ETH-USD", update, maxAge);
        return uint256(oracle.updateAndQueryBytes32("SPOTPX/ETH-USD", update, maxAge));
    }

    function updateAndQuery(uint256 helper, Oracle oracle, bytes calldata update, uint256 maxAge, uint256 maxPrice)
        external
        returns (uint256)
    {
        if (helper == 0) return oracle.updateAndQuerySpotPrice("ETH-USD", update, maxAge, maxPrice);
        if (helper == 1) return oracle.updateAndQueryUint("SPOTPX/ETH-USD", update, maxAge, maxPrice);
        return uint256(oracle.updateAndQueryBytes32("SPOTPX/ETH-USD", update, maxAge, maxPrice));
    }

    function verify(uint256 helper, Oracle oracle, bytes calldata update, uint256 maxAge) external returns (uint256) {
        if (helper == 0) return oracle.verifySpotPrice("ETH-USD", update, maxAge);
        if (helper == 1) return oracle.verifyUint("SPOTPX/ETH-USD", update, maxAge);
        return uint256(oracle.verifyBytes32("SPOTPX/ETH-USD", update, maxAge));
    }

    function verify(uint256 helper, Oracle oracle, bytes calldata update, uint256 maxAge, uint256 maxPrice)
        external
        returns (uint256)
    {
        if (helper == 0) return oracle.verifySpotPrice("ETH-USD", update, maxAge, maxPrice);
        if (helper == 1) return oracle.verifyUint("SPOTPX/ETH-USD", update, maxAge, maxPrice);
        return uint256(oracle.verifyBytes32("SPOTPX/ETH-USD", update, maxAge, maxPrice));
    }
}
