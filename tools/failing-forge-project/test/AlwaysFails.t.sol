// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

/// @notice Must fail: see tools/check-forge-exit-code.js.
contract AlwaysFailsTest {
    function test_alwaysFails() external pure {
        revert("as it must");
    }
}
