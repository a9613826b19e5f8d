// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Update} from "./utils/UpdateArguments.sol";

contract DatasetSubscriptionsTest is DatasetFixture {
    uint256 private constant PERIOD = 30 days;
    uint256 private constant LONGEST = 120 * PERIOD;

    address private immutable READER = makeAddr("reader");
    address private immutable PAYER = makeAddr("payer");

    bytes32 private median;

    function setUp() public override {
        super.setUp();
        Update memory update = validUpdate();
        update.send(dataset);
        median = update.value;
        vm.deal(PAYER, 1000 ether);
    }

    // ---------------------------------------------------------------- reading

    function testFuzz_read_equalsQuery(uint256 seed, bool hasData) public {
        _subscribe(READER, 1);
        vm.warp(START + 1);
        if (hasData) providers.report(dataset, KEY, START + 1, agreeing(4, seed)).send(dataset);
        else providers.reportNoData(dataset, KEY, START + 1, 3).sendNotAvailable(dataset);
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = query(dataset, KEY);
        _assertReads(READER, KEY, output, updatedAt, status);
    }

    function test_read_answersAnyoneWhileQueriesAreFree() public {
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
        _assertReads(READER, KEY, median, START, Oracle.QueryStatus.OK);
        vm.prank(OWNER);
        dataset.setQueryPrice(1);
        _assertRefused(READER);
    }

    function testFuzz_read_RevertWhen_theReaderHasNoSubscription(address reader, address origin) public {
        vm.assume(origin != address(0) && reader != address(vm));
        _subscribe(READER, 1);
        vm.assume(reader != READER);
        vm.expectRevert(
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, reader, SUBSCRIPTION_PRICE, PERIOD)
        );
        vm.prank(reader, origin);
        dataset.read(KEY);
    }

    /// @dev The subscriber is the caller, not the account that sent the transaction, nor the one that paid.
    function test_read_RevertWhen_onlyTheOriginOrThePayerSubscribed() public {
        _subscribe(PAYER, 1);
        vm.expectRevert(
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, READER, SUBSCRIPTION_PRICE, PERIOD)
        );
        vm.prank(READER, PAYER);
        dataset.read(KEY);

        _subscribe(READER, 1);
        address another = makeAddr("another payer");
        hoax(another, 1 ether);
        dataset.subscribe{value: SUBSCRIPTION_PRICE}(READER, 1);
        _assertRefused(another);
    }

    function test_read_sharesNoSubscriptionWithAnotherDataset() public {
        _subscribe(READER, 1);
        IDataset other = deploy(providers);
        assertEq(other.subscribedUntil(READER), 0);
        vm.expectRevert(
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, READER, SUBSCRIPTION_PRICE, PERIOD)
        );
        vm.prank(READER);
        other.read(KEY);
    }

    // ---------------------------------------------------------------- the time

    function testFuzz_read_answersUntilTheLastSecondAndNoLonger(uint256 periods, uint256 price) public {
        periods = bound(periods, 1, 120);
        price = bound(price, 0, SUBSCRIPTION_PRICE_CEILING);
        _subscribe(READER, periods);
        uint256 until = START + periods * PERIOD;
        assertEq(dataset.subscribedUntil(READER), until);
        vm.prank(OWNER);
        dataset.setSubscriptionPrice(price);

        vm.warp(until);
        _assertReads(READER, KEY, median, START, Oracle.QueryStatus.OK);
        vm.warp(until + 1);
        vm.expectRevert(abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, READER, price, PERIOD));
        vm.prank(READER);
        dataset.read(KEY);
    }

    function testFuzz_subscribe_extendsARunningSubscriptionOrStartsNow(uint256 time, uint256 first, uint256 second)
        public
    {
        (first, second) = (bound(first, 1, 60), bound(second, 1, 60));
        time = START + bound(time, 0, 2 * first * PERIOD);
        uint256 until = _subscribe(READER, first);
        vm.warp(time);
        assertEq(_subscribe(READER, second), (time > until ? time : until) + second * PERIOD);
    }

    function testFuzz_subscribe_RevertWhen_itWouldRunTooLong(uint256 held, uint256 periods, uint256 time) public {
        held = bound(held, 1, 120);
        time = bound(time, 0, held * PERIOD);
        _subscribe(READER, held);
        vm.warp(START + time);
        uint256 latest = block.timestamp + LONGEST;
        periods = bound(periods, (latest - START) / PERIOD - held + 1, 1e9);
        uint256 until = START + (held + periods) * PERIOD;
        vm.expectRevert(abi.encodeWithSelector(IDataset.SubscriptionTooLong.selector, until, latest));
        dataset.subscribe(READER, periods);
    }

    function testFuzz_subscribe_RevertWhen_thePeriodsOverflow(uint256 periods, uint256 sent) public {
        periods = bound(periods, 121, type(uint256).max);
        vm.deal(PAYER, bound(sent, 0, 1e9 ether));
        vm.prank(PAYER);
        (bool done,) =
            address(dataset).call{value: PAYER.balance}(abi.encodeCall(IDataset.subscribe, (READER, periods)));
        assertFalse(done);
        assertEq(dataset.subscribedUntil(READER), 0);
    }

    /// @dev Otherwise anyone could read for nothing until the end of the block.
    function test_subscribe_RevertWhen_noPeriodIsBought() public {
        vm.expectRevert(IDataset.NoPeriods.selector);
        dataset.subscribe(READER, 0);
        _assertRefused(READER);
    }

    // ---------------------------------------------------------------- the payment

    function testFuzz_subscribe_paysForAnyoneAndEmits(address payer, address reader, uint256 periods) public {
        vm.assume(payer != address(dataset) && payer != address(vm));
        periods = bound(periods, 1, 120);
        uint256 until = START + periods * PERIOD;
        vm.expectEmit(address(dataset));
        emit IDataset.Subscribed(reader, payer, until);
        hoax(payer, periods * SUBSCRIPTION_PRICE);
        assertEq(dataset.subscribe{value: periods * SUBSCRIPTION_PRICE}(reader, periods), until);
        assertEq(dataset.subscribedUntil(reader), until);
        assertEq(address(dataset).balance, periods * SUBSCRIPTION_PRICE);
    }

    function testFuzz_subscribe_RevertWhen_notPaidExactly(uint256 sent, uint256 price, uint256 periods) public {
        price = bound(price, 0, SUBSCRIPTION_PRICE_CEILING);
        periods = bound(periods, 1, 120);
        sent = bound(sent, 0, 130 ether);
        vm.assume(sent != price * periods);
        vm.prank(OWNER);
        dataset.setSubscriptionPrice(price);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongPayment.selector, sent, price * periods));
        vm.prank(PAYER);
        dataset.subscribe{value: sent}(READER, periods);
        assertEq(dataset.subscribedUntil(READER), 0);
    }

    /// @dev No query or update pays for a subscription, and no subscription for a query.
    function test_query_RevertWhen_aSubscriberPaysNothing() public {
        _subscribe(READER, 1);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongPayment.selector, 0, PRICE));
        vm.prank(READER);
        dataset.query(KEY);
    }

    function test_shareIncome_sharesWhatSubscriptionsPaid() public {
        _subscribe(READER, 3);
        query(dataset, KEY);
        uint256 income = 3 * SUBSCRIPTION_PRICE + PRICE;
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), income);
        address[] memory members = providers.members();
        dataset.shareIncome(members, TOLERANCE_BPS);
        for (uint256 i = 0; i < members.length; ++i) {
            assertEq(members[i].balance, income / members.length);
        }
    }

    // ---------------------------------------------------------------- the price

    function testFuzz_setSubscriptionPrice_setsAndEmits(uint256 price) public {
        price = bound(price, 0, SUBSCRIPTION_PRICE_CEILING);
        vm.expectEmit(address(dataset));
        emit IDataset.SubscriptionPriceChanged(price);
        vm.prank(OWNER);
        dataset.setSubscriptionPrice(price);
        assertEq(_price(), price);
    }

    function testFuzz_setSubscriptionPrice_RevertWhen_aboveTheCeiling(uint256 price) public {
        price = bound(price, SUBSCRIPTION_PRICE_CEILING + 1, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(IDataset.PriceAboveCeiling.selector, price, SUBSCRIPTION_PRICE_CEILING));
        vm.prank(OWNER);
        dataset.setSubscriptionPrice(price);
    }

    // ---------------------------------------------------------------- helpers

    function _subscribe(address reader, uint256 periods) private returns (uint256) {
        uint256 price = _price() * periods;
        vm.prank(PAYER);
        return dataset.subscribe{value: price}(reader, periods);
    }

    function _price() private view returns (uint256 price) {
        (price,,) = dataset.costOfSubscription();
    }

    function _assertReads(
        address reader,
        bytes memory key,
        bytes32 output,
        uint256 updatedAt,
        Oracle.QueryStatus status
    ) private {
        vm.prank(reader);
        (bytes32 output_, uint256 updatedAt_, Oracle.QueryStatus status_) = dataset.read(key);
        assertEq(output_, output, "output");
        assertEq(updatedAt_, updatedAt, "updatedAt");
        assertEq(status_, status);
    }

    function _assertRefused(address reader) private {
        vm.expectRevert(
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, reader, SUBSCRIPTION_PRICE, PERIOD)
        );
        vm.prank(reader);
        dataset.read(KEY);
    }
}

contract MajoritySubscriptionsTest is DatasetSubscriptionsTest {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
