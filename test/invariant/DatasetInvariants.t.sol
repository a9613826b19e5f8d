// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {DatasetHandler} from "./DatasetHandler.sol";

/// @notice What holds after any sequence of calls.
/// forge-config: default.invariant.runs = 24
/// forge-config: default.invariant.depth = 80
/// forge-config: default.invariant.fail-on-revert = false
/// forge-config: default.invariant.show-metrics = false
contract DatasetInvariantsTest is DatasetFixture {
    DatasetHandler private handler;

    function setUp() public override {
        super.setUp();
        providers = new Providers(7, TOLERANCE_BPS);
        dataset = deploy(providers);
        handler = new DatasetHandler(dataset, OWNER, providers, new Providers(8, TOLERANCE_BPS + 1));
        vm.deal(address(handler), 1000 ether);
        targetContract(address(handler));
    }

    /// Every updatedAt is the newest round that was ever stored: it never goes back.
    function invariant_updatedAtIsTheNewestRound() public {
        for (uint256 i = 0; i < 3; ++i) {
            bytes memory key = handler.keys(i);
            (, uint256 updatedAt,) = _peek(key);
            assertEq(updatedAt, handler.newest(key));
        }
    }

    function invariant_updatedAtIsNeverLaterThanTheBlock() public {
        for (uint256 i = 0; i < 3; ++i) {
            (, uint256 updatedAt,) = _peek(handler.keys(i));
            assertLe(updatedAt, block.timestamp);
        }
    }

    function invariant_noRoundWasTooOldWhenItWasStored() public view {
        assertLe(handler.oldestAge(), MAX_ROUND_AGE);
    }

    function invariant_outputIsZeroUnlessOK() public {
        for (uint256 i = 0; i < 3; ++i) {
            (bytes32 output,, Oracle.QueryStatus status) = _peek(handler.keys(i));
            assertNotEq(uint256(status), uint256(Oracle.QueryStatus.INVALID));
            if (status != Oracle.QueryStatus.OK) assertEq(output, 0);
        }
    }

    /// Up to f liars sign in every update.
    function invariant_outputLiesWithinTheHonestRange() public {
        for (uint256 i = 0; i < 3; ++i) {
            bytes memory key = handler.keys(i);
            (bytes32 output,, Oracle.QueryStatus status) = _peek(key);
            if (status != Oracle.QueryStatus.OK) continue;
            assertGe(uint256(output), handler.lowestHonest(key));
            assertLe(uint256(output), handler.highestHonest(key));
        }
    }

    function invariant_balanceIsWhatWasPaid() public view {
        assertEq(address(dataset).balance, handler.paid());
    }

    function invariant_committeeIsTheOwnersChoice() public view {
        assertEq(dataset.committeeHash(), handler.committeeHash());
    }

    function invariant_priceIsTheOwnersChoiceWithinItsCeiling() public view {
        assertEq(dataset.queryPrice(), handler.queryPrice());
        assertLe(dataset.queryPrice(), dataset.priceCeiling());
    }

    /// A suite in which nothing passes, or nothing is refused, would prove nothing.
    function test_handler_getsThroughAndIsRefused() public {
        handler.carryUpdate(0, 8 * 310, 0, 3000e18, 0, 0);
        assertEq(handler.refused(), 1);
        handler.carryUpdate(0, 310, 0, 3000e18, 0, 0);
        assertEq(handler.stored(), 1);
        vm.warp(START + 400);
        handler.changeCommittee();
        handler.carryNoData(0, 310);
        handler.carryUpdate(1, 310, 2, 3000e18, 1e18, 2);
        assertEq(handler.stored(), 3);
    }

    /// @dev A read that leaves no payment behind.
    function _peek(bytes memory key) private returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) {
        uint256 snapshot = vm.snapshotState();
        (output, updatedAt, status) = query(dataset, key);
        vm.revertToStateAndDelete(snapshot);
    }
}
