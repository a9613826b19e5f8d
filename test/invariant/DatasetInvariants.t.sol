// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {DatasetHandler} from "./DatasetHandler.sol";

/// @notice Asserts what holds for every kind of dataset after any sequence of calls.
abstract contract DatasetInvariants is DatasetFixture {
    DatasetHandler internal handler;
    Providers[2] private committees;

    function setUp() public override {
        super.setUp();
        committees = [new Providers(7, TOLERANCE_BPS), new Providers(8, TOLERANCE_BPS + 1)];
        dataset = deploy(committees[0]);
        bool isMajority = keccak256(bytes(kind())) == keccak256(bytes(MAJORITY));
        handler = new DatasetHandler(dataset, isMajority, OWNER, committees[0], committees[1]);
        vm.deal(address(handler), 1000 ether);
        // Only the handler itself calls it.
        bytes4[] memory excluded = new bytes4[](1);
        excluded[0] = DatasetHandler.send.selector;
        excludeSelector(FuzzSelector(address(handler), excluded));
        targetContract(address(handler));
    }

    /// Every updatedAt is the newest round that was ever stored, so it never decreases. When it was stored, it was neither
    /// later than the block nor too old.
    function invariant_roundsAreTheNewestAndInTime() public {
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory key = handler.keys(i);
            (, uint256 updatedAt,) = _peek(key);
            assertEq(updatedAt, handler.newest(key));
            assertLe(updatedAt, block.timestamp);
        }
        assertLe(handler.oldestAge(), MAX_ROUND_AGE);
        assertEq(handler.wronglyStale(), 0);
    }

    /// Up to f liars sign every update.
    function invariant_valuesAreHonestOrZero() public {
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory key = handler.keys(i);
            (bytes32 output,, Oracle.QueryStatus status) = _peek(key);
            assertNotEq(uint256(status), uint256(Oracle.QueryStatus.INVALID));
            if (status != Oracle.QueryStatus.OK) assertEq(output, 0);
            else _assertHonest(uint256(output), handler.lowestHonest(key), handler.highestHonest(key));
        }
    }

    /// The dataset holds exactly what is still to be shared or claimed, of each committee and member, and every account has
    /// exactly what it was paid: no sequence of committees moves income to others.
    function invariant_incomeIsSharedOwedOrPaid() public view {
        uint256 expected = handler.totalOwed() + handler.totalLeft();
        for (uint256 i = 0; i < 2; ++i) {
            address[] memory members = committees[i].members();
            uint256 unshared = handler.earned(i) - handler.shared(i);
            expected += unshared;
            bytes32 hash = keccak256(abi.encodePacked(committees[i].toleranceBps(), members));
            assertEq(dataset.unsharedIncomeOf(hash), unshared);
            for (uint256 place = 0; place < members.length; ++place) {
                assertEq(members[place].balance, handler.received(members[place]));
                assertEq(dataset.unpaidShares(members[place]), handler.owed(members[place]));
            }
        }
        assertEq(address(dataset).balance, expected);
        assertEq(handler.PURSE().balance, handler.claimed());
        assertEq(handler.ACCUSER().balance, handler.rewarded());
    }

    /// Nobody but the owner, and who proves a contradiction, changes anything.
    function invariant_governanceIsTheOwners() public view {
        assertEq(dataset.committeeHash(), handler.committeeHash());
        assertEq(handler.wronglyEjected(), 0);
        assertEq(dataset.queryPrice(), handler.queryPrice());
        assertLe(dataset.queryPrice(), dataset.priceCeiling());
        assertEq(Ownable2Step(address(dataset)).owner(), handler.owner());
        assertEq(Ownable2Step(address(dataset)).pendingOwner(), handler.pendingOwner());
    }

    /// A subscription runs for as long as was paid for, and for its reader only.
    function invariant_subscriptionsAreTheirReadersAndEnd() public {
        for (uint256 i = 0; i < 4; ++i) {
            address reader = handler.readers(i);
            uint256 until = handler.subscribedUntil(reader);
            assertEq(dataset.subscribedUntil(reader), until);
            bool mayRead = dataset.queryPrice() == 0 || until >= block.timestamp;
            bytes memory key = handler.keys(0);
            if (!mayRead) vm.expectPartialRevert(IDataset.SubscriptionNeeded.selector);
            vm.prank(reader);
            dataset.read(key);
        }
    }

    /// @notice Asserts that honest members between these values may have signed the output.
    function _assertHonest(uint256 output, uint256 lowest, uint256 highest) internal pure virtual;

    // ---------------------------------------------------------------- the handler

    /// A run in which no call passes, or none reverts, would prove nothing: within this many calls every
    /// expected path is taken, and none of the forbidden ones.
    function test_handler_reachesEveryPath() public {
        for (uint256 i = 0; i < 1800; ++i) {
            _act(uint256(keccak256(abi.encode("call", i))));
        }
        string[20] memory taken = [
            "update: OK",
            "update: stale",
            "updateNotAvailable: stored",
            "updateNotAvailable: stale",
            "updateBatch: 0",
            "updateBatch: 1",
            "updateBatch: 2",
            "updateBatch: 3",
            "updateBatch: 6",
            "announce: known",
            "query: answered",
            "shareIncome: current",
            "shareIncome: former",
            "claimShares: paid",
            "subscribe: paid",
            "setQueryPrice: set",
            "setCommittee: set",
            "accuse: ejected",
            "transferOwnership: begun",
            "acceptOwnership: accepted"
        ];
        for (uint256 i = 0; i < taken.length; ++i) {
            _assertTaken(taken[i]);
        }
        _assertRefused("accuse: ", IDataset.NoContradiction.selector);
        _assertRefused("accuse: ", IDataset.DifferentSigners.selector);
        _assertRefused("update: ", IDataset.FutureRound.selector);
        _assertRefused("update: ", IDataset.ExpiredRound.selector);
        _assertRefused("updateNotAvailable: ", IDataset.FutureRound.selector);
        _assertRefused("updateBatch: ", IDataset.FutureRound.selector);
        _assertRefused("updateBatch: ", IDataset.ExpiredRound.selector);
        _assertRefused("query: ", IDataset.WrongPayment.selector);
        _assertRefused("announce: ", IDataset.InvalidKey.selector);
        _assertRefused("shareIncome: ", IDataset.NothingToShare.selector);
        _assertRefused("claimShares: ", IDataset.NothingToClaim.selector);
        _assertRefused("setQueryPrice: ", IDataset.PriceAboveCeiling.selector);
        _assertRefused("acceptOwnership: ", Ownable.OwnableUnauthorizedAccount.selector);
        _assertRefused("usurp: ", Ownable.OwnableUnauthorizedAccount.selector);
        _assertKindsPaths();
        assertEq(handler.paths("usurped"), 0);
    }

    /// @notice Asserts that the paths that only this kind of dataset has were taken.
    function _assertKindsPaths() internal view virtual;

    function _assertTaken(string memory path) internal view {
        assertGt(handler.paths(path), 0, path);
    }

    function _assertRefused(string memory call, bytes4 reason) internal view {
        _assertTaken(string.concat(call, vm.toString(abi.encodePacked(reason))));
    }

    function _act(uint256 seed) private {
        (uint256 a, uint256 b, uint256 c) = (seed >> 16, seed >> 64, uint256(keccak256(abi.encode(seed))));
        uint256 action = seed % 17;
        if (action == 0) handler.submitUpdate(a, b, c, seed, seed >> 192);
        if (action == 1) handler.submitNoData(a, b);
        if (action == 2) handler.submitBatch(a, b, c, seed >> 192);
        if (action == 3) handler.announce(a);
        if (action == 4) handler.query(a, b);
        if (action == 5) handler.shareIncome(a);
        if (action == 6) handler.setQueryPrice(a);
        if (action == 7) handler.changeCommittee();
        if (action == 8) handler.transferOwnership(a);
        if (action == 9) handler.acceptOwnership(a);
        if (action == 10) handler.usurp(address(bytes20(bytes32(seed))), a);
        if (action == 11) handler.pass(a);
        if (action == 12) handler.forceEther(a);
        if (action == 13) handler.changeAccount(a);
        if (action == 14) handler.claimShares(a);
        if (action == 15) handler.subscribe(a, b);
        if (action == 16) handler.accuse(a, b);
    }

    /// @dev Queries and then reverts the payment.
    function _peek(bytes memory key) internal returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) {
        uint256 snapshot = vm.snapshotState();
        (output, updatedAt, status) = query(dataset, key);
        vm.revertToStateAndDelete(snapshot);
    }
}

/// forge-config: default.invariant.runs = 10
/// forge-config: default.invariant.depth = 100
/// forge-config: default.invariant.fail-on-revert = true
/// forge-config: default.invariant.show-metrics = false
/// forge-config: deep.invariant.runs = 250
/// forge-config: deep.invariant.depth = 200
/// forge-config: deep.invariant.fail-on-revert = true
/// forge-config: deep.invariant.show-metrics = false
contract MedianInvariantsTest is DatasetInvariants {
    function _assertHonest(uint256 output, uint256 lowest, uint256 highest) internal pure override {
        assertGe(output, lowest);
        assertLe(output, highest);
    }

    function _assertKindsPaths() internal view override {
        _assertTaken("updateBatch: 4");
        _assertRefused("update: ", IDataset.ValueTooLarge.selector);
        _assertRefused("update: ", IDataset.WrongMedian.selector);
    }
}

/// forge-config: default.invariant.runs = 10
/// forge-config: default.invariant.depth = 100
/// forge-config: default.invariant.fail-on-revert = true
/// forge-config: default.invariant.show-metrics = false
/// forge-config: deep.invariant.runs = 250
/// forge-config: deep.invariant.depth = 200
/// forge-config: deep.invariant.fail-on-revert = true
/// forge-config: deep.invariant.show-metrics = false
contract MajorityInvariantsTest is DatasetInvariants {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }

    /// The honest members sign one of two values.
    function _assertHonest(uint256 output, uint256 lowest, uint256 highest) internal pure override {
        assertTrue(output == lowest || output == highest);
    }

    function _assertKindsPaths() internal view override {
        _assertTaken("update: DISAGREEMENT");
        _assertTaken("updateBatch: 5");
        _assertRefused("update: ", IDataset.Undecided.selector);
        _assertRefused("update: ", IDataset.WrongMajority.selector);
    }
}
