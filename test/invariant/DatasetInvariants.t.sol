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

    // ---------------------------------------------------------------- rounds

    /// Every updatedAt is the newest round that was ever stored: it never decreases.
    function invariant_updatedAtIsTheNewestRound() public {
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory key = handler.keys(i);
            (, uint256 updatedAt,) = _peek(key);
            assertEq(updatedAt, handler.newest(key));
        }
    }

    function invariant_updatedAtIsNeverLaterThanTheBlock() public {
        for (uint256 i = 0; i < 4; ++i) {
            (, uint256 updatedAt,) = _peek(handler.keys(i));
            assertLe(updatedAt, block.timestamp);
        }
    }

    function invariant_noRoundWasTooOldWhenItWasStored() public view {
        assertLe(handler.oldestAge(), MAX_ROUND_AGE);
    }

    // ---------------------------------------------------------------- values

    function invariant_outputIsZeroUnlessOK() public {
        for (uint256 i = 0; i < 4; ++i) {
            (bytes32 output,, Oracle.QueryStatus status) = _peek(handler.keys(i));
            assertNotEq(uint256(status), uint256(Oracle.QueryStatus.INVALID));
            if (status != Oracle.QueryStatus.OK) assertEq(output, 0);
        }
    }

    function invariant_batchOutcomesFollowTheRules() public view {
        assertEq(handler.wrongOutcomes(), 0);
    }

    // ---------------------------------------------------------------- income

    /// The dataset holds exactly what is still to be shared or claimed, and every account has exactly what it was paid.
    function invariant_balanceIsWhatIsUnsharedOrOwed() public view {
        uint256 expected = handler.totalOwed() + handler.totalLeft();
        for (uint256 i = 0; i < 2; ++i) {
            expected += handler.earned(i) - handler.shared(i);
            address[] memory members = committees[i].members();
            for (uint256 place = 0; place < members.length; ++place) {
                assertEq(members[place].balance, handler.received(members[place]));
            }
        }
        assertEq(address(dataset).balance, expected);
        assertEq(handler.PURSE().balance, handler.claimed());
        assertEq(handler.ACCUSER().balance, handler.rewarded());
    }

    /// All that was paid out and the balance that is left add up to all that came in.
    function invariant_incomeAddsUp() public view {
        uint256 paid = handler.claimed() + handler.rewarded();
        for (uint256 i = 0; i < 2; ++i) {
            address[] memory members = committees[i].members();
            for (uint256 place = 0; place < members.length; ++place) {
                // The committees share members.
                if (i == 0 || !_isMember(0, members[place])) paid += members[place].balance;
            }
        }
        assertEq(paid + address(dataset).balance, handler.earned(0) + handler.earned(1));
    }

    /// Whatever the owner did, each committee keeps what it earned until it is shared with its own members.
    function invariant_incomeIsItsCommittees() public view {
        for (uint256 i = 0; i < 2; ++i) {
            bytes32 hash = keccak256(abi.encodePacked(committees[i].toleranceBps(), committees[i].members()));
            assertEq(dataset.unsharedIncomeOf(hash), handler.earned(i) - handler.shared(i));
        }
    }

    function invariant_refusedSharesAreOwedToTheirMembers() public view {
        for (uint256 i = 0; i < 2; ++i) {
            address[] memory members = committees[i].members();
            for (uint256 place = 0; place < members.length; ++place) {
                assertEq(dataset.unpaidShares(members[place]), handler.owed(members[place]));
            }
        }
    }

    // ---------------------------------------------------------------- governance

    function invariant_committeeIsTheOwnersChoice() public view {
        assertEq(dataset.committeeHash(), handler.committeeHash());
    }

    function invariant_nobodyIsEjectedWithoutAContradiction() public view {
        assertEq(handler.wronglyEjected(), 0);
    }

    function invariant_priceIsTheOwnersChoiceWithinItsCeiling() public view {
        assertEq(dataset.queryPrice(), handler.queryPrice());
        assertLe(dataset.queryPrice(), dataset.priceCeiling());
    }

    /// A subscription runs for as long as was paid for, and for its reader only.
    function invariant_aSubscriptionIsItsReadersAndEnds() public {
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

    function invariant_ownershipMovesInTwoSteps() public view {
        assertEq(Ownable2Step(address(dataset)).owner(), handler.owner());
        assertEq(Ownable2Step(address(dataset)).pendingOwner(), handler.pendingOwner());
    }

    // ---------------------------------------------------------------- the handler

    /// A run in which no call passes, or none reverts, would prove nothing: within this many calls every
    /// expected path is taken, and none of the forbidden ones.
    function test_handler_reachesEveryPath() public {
        for (uint256 i = 0; i < 1800; ++i) {
            _act(uint256(keccak256(abi.encode("call", i))));
        }
        _assertTaken("update: OK");
        _assertTaken("updateNotAvailable: stored");
        _assertTaken("announce: known");
        _assertTaken("query: answered");
        _assertTaken("shareIncome: current");
        _assertTaken("shareIncome: former");
        _assertTaken("claimShares: paid");
        _assertTaken("subscribe: paid");
        _assertTaken("setQueryPrice: set");
        _assertTaken("setCommittee: set");
        _assertTaken("accuse: ejected");
        _assertRefused("accuse: ", IDataset.NoContradiction.selector);
        _assertRefused("accuse: ", IDataset.DifferentSigners.selector);
        _assertTaken("transferOwnership: begun");
        _assertTaken("acceptOwnership: accepted");
        _assertTaken("updateBatch: 0");
        _assertTaken("updateBatch: 1");
        _assertTaken("updateBatch: 2");
        _assertTaken("updateBatch: 3");
        _assertTaken("updateBatch: 6");
        _assertTaken("update: stale");
        _assertRefused("update: ", IDataset.FutureRound.selector);
        _assertRefused("update: ", IDataset.ExpiredRound.selector);
        _assertTaken("updateNotAvailable: stale");
        _assertRefused("updateNotAvailable: ", IDataset.FutureRound.selector);
        _assertRefused("updateBatch: ", IDataset.FutureRound.selector);
        _assertRefused("updateBatch: ", IDataset.ExpiredRound.selector);
        _assertTaken("forgery: stale");
        _assertRefused("forgery: ", IDataset.WrongCommittee.selector);
        _assertRefused("forged batch: ", IDataset.WrongCommittee.selector);
        _assertRefused("announce: ", IDataset.InvalidKey.selector);
        _assertRefused("query: ", IDataset.WrongPayment.selector);
        _assertRefused("shareIncome: ", IDataset.NothingToShare.selector);
        _assertRefused("claimShares: ", IDataset.NothingToClaim.selector);
        _assertRefused("setQueryPrice: ", IDataset.PriceAboveCeiling.selector);
        _assertRefused("acceptOwnership: ", Ownable.OwnableUnauthorizedAccount.selector);
        _assertRefused("usurp: ", Ownable.OwnableUnauthorizedAccount.selector);
        _assertKindsPaths();
        assertEq(handler.paths("forgery: stored"), 0);
        assertEq(handler.paths("forged batch: stored"), 0);
        assertEq(handler.paths("query: answered for another amount"), 0);
        assertEq(handler.paths("usurped"), 0);
    }

    function _isMember(uint256 committee, address account) private view returns (bool) {
        address[] memory members = committees[committee].members();
        for (uint256 place = 0; place < members.length; ++place) {
            if (members[place] == account) return true;
        }
        return false;
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
        uint256 action = seed % 20;
        if (action == 0) handler.submitUpdate(a, b, c, seed, seed >> 192);
        if (action == 1) handler.submitNoData(a, b);
        if (action == 2) handler.submitBatch(a, b, c, seed >> 192);
        if (action == 3) handler.submitForgery(a, b, c);
        if (action == 4) handler.submitForgedBatch(a, b);
        if (action == 5) handler.announce(a);
        if (action == 6) handler.query(a, b);
        if (action == 7) handler.queryForAnotherAmount(a);
        if (action == 8) handler.shareIncome(a);
        if (action == 9) handler.setQueryPrice(a);
        if (action == 10) handler.changeCommittee();
        if (action == 11) handler.transferOwnership(a);
        if (action == 12) handler.acceptOwnership(a);
        if (action == 13) handler.usurp(address(bytes20(bytes32(seed))), a);
        if (action == 14) handler.pass(a);
        if (action == 15) handler.forceEther(a);
        if (action == 16) handler.changeAccount(a);
        if (action == 17) handler.claimShares(a);
        if (action == 18) handler.subscribe(a, b);
        if (action == 19) handler.accuse(a, b);
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
    /// Up to f liars sign every update.
    function invariant_outputLiesWithinTheHonestRange() public {
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory key = handler.keys(i);
            (bytes32 output,, Oracle.QueryStatus status) = _peek(key);
            if (status != Oracle.QueryStatus.OK) continue;
            assertGe(uint256(output), handler.lowestHonest(key));
            assertLe(uint256(output), handler.highestHonest(key));
        }
    }

    function _assertKindsPaths() internal view override {
        _assertTaken("updateBatch: 4");
        _assertRefused("update: ", IDataset.ValueTooLarge.selector);
        _assertRefused("update: ", IDataset.WrongMedian.selector);
        _assertRefused("forgery: ", IDataset.WrongMedian.selector);
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

    /// Up to f liars sign every update; the honest members sign one of two values.
    function invariant_outputWasSignedByAnHonestMember() public {
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory key = handler.keys(i);
            (bytes32 output,, Oracle.QueryStatus status) = _peek(key);
            if (status != Oracle.QueryStatus.OK) continue;
            bool isHonest =
                uint256(output) == handler.lowestHonest(key) || uint256(output) == handler.highestHonest(key);
            assertTrue(isHonest);
        }
    }

    function _assertKindsPaths() internal view override {
        _assertTaken("update: DISAGREEMENT");
        _assertTaken("updateBatch: 5");
        _assertRefused("update: ", IDataset.Undecided.selector);
        _assertRefused("update: ", IDataset.WrongMajority.selector);
        _assertRefused("forgery: ", IDataset.WrongMajority.selector);
    }
}
