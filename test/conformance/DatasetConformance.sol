// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Vm} from "forge-std/Vm.sol";

import {Oracle} from "../../src/Oracle.sol";
import {Batch, DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {BatchLibrary, Update} from "../utils/UpdateArguments.sol";

/// @notice Tests what every kind of dataset has in common. A kind inherits it and names its artifact in `kind()`.
/// @dev Members that all sign one value agree in every kind; members that sign `DISSENT` agree in none.
abstract contract DatasetConformance is DatasetFixture {
    using BatchLibrary for Batch;

    bytes private constant WEB_KEY = "WEB/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// @dev No two of these are within the tolerance of each other.
    uint256[4] private DISSENT = [1, 1e3, 1e6, 1e9];

    // ---------------------------------------------------------------- query

    function testFuzz_query_answersWhatAllSigned(uint208 value) public {
        _agreed(value, START).send(dataset);
        assertAnswer(dataset, KEY, bytes32(uint256(value)), START, Oracle.QueryStatus.OK);
    }

    function test_query_answersZeroToADisagreement() public {
        _agreed(7, START - 1).send(dataset);
        assertEq(_dissenting(START).send(dataset), Oracle.QueryStatus.DISAGREEMENT);
        assertAnswer(dataset, KEY, 0, START, Oracle.QueryStatus.DISAGREEMENT);
        vm.warp(START + 1);
        _agreed(8, START + 1).send(dataset);
        assertAnswer(dataset, KEY, bytes32(uint256(8)), START + 1, Oracle.QueryStatus.OK);
    }

    function test_query_answersNotAvailableToAKeyWithoutData() public {
        assertAnswer(dataset, KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
        dataset.announce(KEY);
        assertAnswer(dataset, KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_query_answersInvalidToAnotherForm() public {
        bytes[5] memory keys = [bytes(""), "SPOTPX/", "SPOTPX/eth-usd", WEB_KEY, new bytes(257)];
        for (uint256 i = 0; i < keys.length; ++i) {
            assertAnswer(dataset, keys[i], 0, 0, Oracle.QueryStatus.INVALID);
        }
        DatasetSettings memory settings_ = settings(providers);
        settings_.keyForm = KeyForm.WEB_ORACLE;
        dataset = deploy(settings_);
        assertAnswer(dataset, KEY, 0, 0, Oracle.QueryStatus.INVALID);
        assertAnswer(dataset, WEB_KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
        Update memory update = providers.report(dataset, WEB_KEY, START, equal(3, 5));
        update.send(dataset);
        assertAnswer(dataset, WEB_KEY, bytes32(uint256(5)), START, Oracle.QueryStatus.OK);
    }

    function test_query_keepsKeysApart() public {
        _agreed(7, START).send(dataset);
        providers.report(dataset, "SPOTPX/BTC-USD", START, equal(3, 8)).send(dataset);
        assertAnswer(dataset, KEY, bytes32(uint256(7)), START, Oracle.QueryStatus.OK);
        assertAnswer(dataset, "SPOTPX/BTC-USD", bytes32(uint256(8)), START, Oracle.QueryStatus.OK);
        assertAnswer(dataset, "SPOTPX/BTC-EUR", 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_query_writesNothing() public {
        _agreed(7, START).send(dataset);
        vm.record();
        dataset.query{value: PRICE}(KEY);
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        assertEq(writes.length, 0);
    }

    // ---------------------------------------------------------------- payment

    function testFuzz_query_RevertWhen_notPaidExactly(uint256 sent) public {
        _agreed(7, START).send(dataset);
        sent = bound(sent, 0, 1 ether);
        vm.assume(sent != PRICE);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongPayment.selector, sent, PRICE));
        dataset.query{value: sent}(KEY);
    }

    function test_query_keepsThePriceWhateverItAnswers() public {
        query(dataset, "S");
        query(dataset, KEY);
        _dissenting(START).send(dataset);
        query(dataset, KEY);
        assertEq(address(dataset).balance, 3 * PRICE);
    }

    function test_shareIncome_paysEveryMember() public {
        vm.deal(address(dataset), 4 ether + 3);
        address[] memory members = providers.members();
        dataset.shareIncome(members, TOLERANCE_BPS);
        for (uint256 i = 0; i < members.length; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
        assertEq(address(dataset).balance, 3);
    }

    // ---------------------------------------------------------------- rounds

    function testFuzz_update_acceptsANewerRoundThatIsNeitherFutureNorExpired(uint256 first, uint256 second) public {
        first = bound(first, START - MAX_ROUND_AGE, START);
        _agreed(7, first).send(dataset);
        second = bound(second, START - 2 * MAX_ROUND_AGE, START + MAX_ROUND_AGE);
        Update memory update = _agreed(8, second);
        if (second <= first) {
            assertStale(update);
        } else if (second > START) {
            assertReverts(update, abi.encodeWithSelector(IDataset.FutureRound.selector, second, START));
        } else {
            update.send(dataset);
            assertAnswer(dataset, KEY, bytes32(uint256(8)), second, Oracle.QueryStatus.OK);
        }
    }

    function testFuzz_update_RevertWhen_theRoundIsTooOld(uint256 age) public {
        age = bound(age, MAX_ROUND_AGE + 1, START - 1);
        bytes memory reason = abi.encodeWithSelector(IDataset.ExpiredRound.selector, age, MAX_ROUND_AGE);
        assertReverts(_agreed(7, START - age), reason);
        assertNoDataReverts(providers.reportNoData(dataset, KEY, START - age, 3), reason);
    }

    function test_update_RevertWhen_theKeyIsOfAnotherForm() public {
        Update memory update = providers.report(dataset, WEB_KEY, START, equal(3, 5));
        assertReverts(update, abi.encodeWithSelector(IDataset.InvalidKey.selector, WEB_KEY));
        assertNoDataReverts(update, abi.encodeWithSelector(IDataset.InvalidKey.selector, WEB_KEY));
    }

    // ---------------------------------------------------------------- committee

    function testFuzz_update_acceptsAnyQuorumAndNothingLess(uint256 size, uint256 signers) public {
        size = bound(size, 1, 13);
        signers = bound(signers, 0, size);
        providers = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(providers);
        Update memory update = providers.report(dataset, KEY, START, equal(signers, 5));
        if (3 * signers > 2 * size) {
            update.send(dataset);
            assertAnswer(dataset, KEY, bytes32(uint256(5)), START, Oracle.QueryStatus.OK);
        } else {
            assertReverts(update, abi.encodeWithSelector(IDataset.NoQuorum.selector, signers, size - signers));
        }
    }

    function test_update_RevertWhen_aMemberSignsTwice() public {
        Update memory update = _agreed(7, START);
        update.reports[1] = update.reports[0];
        assertReverts(update, wrongCommittee(update));
    }

    function testFuzz_update_RevertWhen_anotherValueWasSigned(bytes32 value) public {
        vm.assume(uint256(value) != 7);
        Update memory update = _agreed(7, START);
        update.reports[1].content = value;
        assertReverts(update, wrongCommittee(update));
    }

    function test_update_RevertWhen_signedForAnotherDatasetOrChain() public {
        Update memory update = _agreed(7, START);
        dataset = deploy(providers);
        assertReverts(update, wrongCommittee(update));
        update = _agreed(7, START);
        vm.chainId(42);
        assertReverts(update, wrongCommittee(update));
    }

    /// An update in flight is rejected after a rotation; reports that the new committee signs pass.
    function test_update_countsForTheCurrentCommittee() public {
        Update memory update = _agreed(7, START);
        providers = new Providers(7, TOLERANCE_BPS);
        address[] memory members = providers.members();
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
        assertReverts(update, wrongCommittee(update));
        providers.report(dataset, KEY, START, equal(5, 7)).send(dataset);
        assertAnswer(dataset, KEY, bytes32(uint256(7)), START, Oracle.QueryStatus.OK);
    }

    // ---------------------------------------------------------------- no data

    function test_updateNotAvailable_storesThatThereIsNone() public {
        _agreed(7, START - 1).send(dataset);
        vm.expectEmit(address(dataset));
        emit IDataset.Updated(keccak256(KEY), 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
        validNoDataUpdate().sendNotAvailable(dataset);
        assertAnswer(dataset, KEY, 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_update_RevertWhen_noDataWasSigned() public {
        Update memory update = validNoDataUpdate();
        assertReverts(update, wrongCommittee(update));
        update = _agreed(0, START);
        assertNoDataReverts(update, wrongCommittee(update, Oracle.QueryStatus.NOT_AVAILABLE));
    }

    // ---------------------------------------------------------------- many keys

    function test_updateBatch_storesWhatItCan() public {
        bytes[] memory keys = new bytes[](5);
        (keys[0], keys[1], keys[2], keys[3], keys[4]) =
        (KEY, "SPOTPX/NONE-USD", "SPOTPX/OLD-USD", "SPOTPX/NEW-USD", "SPOTPX/MIXED-USD");
        providers.report(dataset, keys[2], START, equal(3, 9)).send(dataset);
        (bytes32[][] memory rows, uint256[] memory missing) = (new bytes32[][](4), new uint256[](4));
        for (uint256 row = 0; row < 4; ++row) {
            rows[row] = new bytes32[](5);
            (rows[row][0], rows[row][2], rows[row][4]) = (bytes32(uint256(7)), bytes32(uint256(8)), bytes32(uint256(9)));
            // The second key has no data; only two members have data for the fifth.
            missing[row] = row < 2 ? 18 : 2;
        }
        for (uint256 i = 0; i < 5; ++i) {
            if (i != 3) dataset.announce(keys[i]);
        }
        Batch memory batch = providers.reportMany(dataset, keys, START, rows, missing);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(uint8(outcomes[0]), uint8(IDataset.KeyOutcome.STORED));
        assertEq(uint8(outcomes[1]), uint8(IDataset.KeyOutcome.STORED));
        assertEq(uint8(outcomes[2]), uint8(IDataset.KeyOutcome.STALE_ROUND));
        assertEq(uint8(outcomes[3]), uint8(IDataset.KeyOutcome.UNKNOWN_KEY));
        assertEq(uint8(outcomes[4]), uint8(IDataset.KeyOutcome.NO_QUORUM));
        assertAnswer(dataset, keys[0], bytes32(uint256(7)), START, Oracle.QueryStatus.OK);
        assertAnswer(dataset, keys[1], 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
        assertAnswer(dataset, keys[2], bytes32(uint256(9)), START, Oracle.QueryStatus.OK);
        assertAnswer(dataset, keys[3], 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
        assertAnswer(dataset, keys[4], 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_update_emitsANewKeyOnce() public {
        Update memory update = _agreed(7, START - 1);
        vm.expectEmit(address(dataset));
        emit IDataset.KeyAdded(keccak256(KEY), KEY);
        update.send(dataset);
        vm.recordLogs();
        _dissenting(START).send(dataset);
        dataset.announce(KEY);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics[0], IDataset.Updated.selector);
    }

    // ---------------------------------------------------------------- governance

    function test_constructor_keepsItsSettings() public view {
        assertEq(Ownable2Step(address(dataset)).owner(), OWNER);
        assertEq(dataset.queryPrice(), PRICE);
        assertEq(dataset.priceCeiling(), PRICE_CEILING);
        (uint256 price, uint256 period, uint256 ceiling) = dataset.costOfSubscription();
        assertEq(price, SUBSCRIPTION_PRICE);
        assertEq(period, 30 days);
        assertEq(ceiling, SUBSCRIPTION_PRICE_CEILING);
        assertEq(dataset.maxRoundAge(), MAX_ROUND_AGE);
        assertEq(uint256(dataset.keyForm()), uint256(KeyForm.SPOT_PRICE));
        assertEq(dataset.committeeHash(), keccak256(abi.encodePacked(TOLERANCE_BPS, providers.members())));
        assertEq(dataset.committeeBlock(), block.number);
    }

    function testFuzz_setters_RevertWhen_calledByAnyoneElse(address caller) public {
        vm.assume(caller != OWNER);
        bytes memory reason = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, caller);
        address[] memory members = providers.members();
        vm.startPrank(caller);
        vm.expectRevert(reason);
        dataset.setQueryPrice(0);
        vm.expectRevert(reason);
        dataset.setSubscriptionPrice(0);
        vm.expectRevert(reason);
        dataset.setCommittee(members, 0);
    }

    function test_setters_emitTheWholeNewValue() public {
        address[] memory members = new Providers(7, 5).members();
        vm.startPrank(OWNER);
        vm.expectEmit(address(dataset));
        emit IDataset.CommitteeChanged(members, 5);
        dataset.setCommittee(members, 5);
        vm.expectEmit(address(dataset));
        emit IDataset.QueryPriceChanged(3);
        dataset.setQueryPrice(3);
        vm.expectRevert(abi.encodeWithSelector(IDataset.PriceAboveCeiling.selector, PRICE_CEILING + 1, PRICE_CEILING));
        dataset.setQueryPrice(PRICE_CEILING + 1);
        vm.expectRevert(abi.encodeWithSelector(IDataset.ToleranceTooHigh.selector, 10_001, 10_000));
        dataset.setCommittee(members, 10_001);
        members[1] = members[0];
        vm.expectRevert(abi.encodeWithSelector(IDataset.UnsortedCommittee.selector, members[0], members[0]));
        dataset.setCommittee(members, 5);
    }

    function test_transferOwnership_takesTwoSteps() public {
        Ownable2Step ownable = Ownable2Step(address(dataset));
        address next = makeAddr("next owner");
        vm.prank(OWNER);
        ownable.transferOwnership(next);
        assertEq(ownable.owner(), OWNER);
        vm.prank(next);
        ownable.acceptOwnership();
        assertEq(ownable.owner(), next);
    }

    // ---------------------------------------------------------------- helpers

    /// @dev Three of the four members sign one value.
    function _agreed(uint256 value, uint256 timestamp) private view returns (Update memory) {
        return providers.report(dataset, KEY, timestamp, equal(3, value));
    }

    /// @dev All four members sign, and no two agree.
    function _dissenting(uint256 timestamp) private view returns (Update memory) {
        uint256[] memory values = new uint256[](4);
        (values[0], values[1], values[2], values[3]) = (DISSENT[0], DISSENT[1], DISSENT[2], DISSENT[3]);
        return providers.report(dataset, KEY, timestamp, values);
    }
}
