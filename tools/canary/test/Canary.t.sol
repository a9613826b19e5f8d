// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

/// @notice Must fail: see tools/canary.js.
contract CanaryTest {
    function test_canary_Fails() external pure {
        revert("as it must");
    }
}
