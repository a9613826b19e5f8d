// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "@dataset-oracle/contracts/interfaces/IDataset.sol";
import {UpdateCalldata} from "@dataset-oracle/contracts/libraries/UpdateCalldata.sol";
import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";
import {Oracle} from "@dataset-oracle/contracts/usingOracleProtocol.sol";
import {Test} from "forge-std/Test.sol";

import {Settlement} from "../src/Settlement.sol";

contract SettlementTest is Test {
    uint256 private constant TIME = 1_790_000_000;
    uint256 private constant STRIKE = 3000e18;
    uint256 private constant QUERY_PRICE = 0.001 ether;

    MockOracle private oracle;
    Settlement private settlement;
    address private above = makeAddr("above");
    address private below = makeAddr("below");

    function setUp() public {
        vm.warp(TIME);
        oracle = new MockOracle();
        settlement = new Settlement{value: 1 ether}(oracle, "SPOTPX/ETH-USD", TIME, STRIKE, above, below);
    }

    function testFuzz_settle_paysByTheEarliestRoundThatWasRecorded(uint256 first, uint256 second, uint256 pause)
        public
    {
        (first, second) = (bound(first, 0, 1 days), bound(second, 0, 1 days));
        vm.warp(TIME + first);
        bytes memory earlier = update(STRIKE);
        vm.warp(TIME + first + 1 + bound(pause, 0, 298));
        settlement.record{value: QUERY_PRICE}(update(STRIKE - 1));
        settlement.record{value: QUERY_PRICE}(earlier);
        assertEq(settlement.recorded(), TIME + first);
        vm.warp(TIME + first + 300 + second);
        settlement.settle();
        assertEq(above.balance, 1 ether);
        settlement.settle();
        assertEq(below.balance, 0);
    }

    function test_settle_paysBelowForANumberUnderTheStrike() public {
        settlement.record{value: QUERY_PRICE}(update(STRIKE - 1));
        skip(300);
        settlement.settle();
        assertEq(below.balance, 1 ether);
    }

    function test_settle_RevertWhen_anEarlierRoundCanStillBeRecorded() public {
        vm.expectRevert(abi.encodeWithSelector(Settlement.NotFinal.selector, 0));
        settlement.settle();
        skip(1);
        settlement.record{value: QUERY_PRICE}(update(STRIKE - 1));
        skip(299);
        vm.expectRevert(abi.encodeWithSelector(Settlement.NotFinal.selector, TIME + 301));
        settlement.settle();
    }

    /// When a round is final, no dataset takes an earlier one any more.
    function test_record_RevertWhen_theRoundIsFinal() public {
        bytes memory earlier = update(STRIKE);
        skip(1);
        settlement.record{value: QUERY_PRICE}(update(STRIKE - 1));
        skip(300);
        vm.expectRevert(abi.encodeWithSelector(IDataset.ExpiredRound.selector, 301, 300));
        settlement.record{value: QUERY_PRICE}(earlier);
    }

    function test_record_RevertWhen_theRoundIsTooEarlyOrNotEarlier() public {
        bytes memory tooEarly = oracle.spotPriceUpdate("ETH-USD", STRIKE, 1);
        vm.expectRevert(abi.encodeWithSelector(Settlement.NotNeeded.selector, TIME - 1, TIME, 0));
        settlement.record{value: QUERY_PRICE}(tooEarly);
        settlement.record{value: QUERY_PRICE}(update(STRIKE));
        skip(1);
        bytes memory later = update(STRIKE - 1);
        vm.expectRevert(abi.encodeWithSelector(Settlement.NotNeeded.selector, TIME + 1, TIME, TIME));
        settlement.record{value: QUERY_PRICE}(later);
    }

    function test_record_RevertWhen_itIsOfAnotherKeyOrHasNoValue() public {
        bytes memory other = oracle.spotPriceUpdate("BTC-USD", STRIKE, 0);
        vm.expectRevert(
            abi.encodeWithSelector(UpdateCalldata.UpdateOfAnotherKey.selector, "SPOTPX/BTC-USD", "SPOTPX/ETH-USD")
        );
        settlement.record{value: QUERY_PRICE}(other);
        bytes memory none = oracle.noDataUpdate("SPOTPX/ETH-USD", 0);
        vm.expectRevert(abi.encodeWithSelector(Settlement.NoValue.selector, Oracle.QueryStatus.NOT_AVAILABLE));
        settlement.record{value: QUERY_PRICE}(none);
    }

    function test_record_RevertWhen_notPaidExactly() public {
        bytes memory right = update(STRIKE);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongPayment.selector, 1, QUERY_PRICE));
        settlement.record{value: 1}(right);
    }

    /// @dev Returns the update of this second.
    function update(uint256 rate) private view returns (bytes memory) {
        return oracle.spotPriceUpdate("ETH-USD", rate, 0);
    }
}
