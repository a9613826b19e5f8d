// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {Batch, DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {IncomeSharer} from "./utils/IncomeSharer.sol";
import {Providers} from "./utils/Providers.sol";
import {BatchLibrary} from "./utils/UpdateArguments.sol";

/// @notice Senders of batches are repaid at once, out of the new income of the committee.
contract DatasetRepaymentsTest is DatasetFixture {
    using BatchLibrary for Batch;

    uint256 private constant INTERVAL = 60;
    uint256 private constant FEE_CAP = 10 gwei;
    uint256 private constant GAS_PER_KEY = 8_000;
    uint256 private constant FEE = 2 gwei;
    address private constant SENDER = address(0x5e2d);

    bytes[] private keys;

    function setUp() public override {
        super.setUp();
        dataset = _deploy(INTERVAL, FEE_CAP);
        vm.deal(address(dataset), 1 ether);
        vm.fee(FEE);
    }

    // ---------------------------------------------------------------- the amount

    function testFuzz_updateBatch_repaysTheBaseFeeUpToTheCap(uint256 fee, uint256 count) public {
        fee = bound(fee, 0, 1000 gwei);
        vm.fee(fee);
        count = bound(count, 1, 12);
        uint256 amount = count * GAS_PER_KEY * (fee < FEE_CAP ? fee : FEE_CAP);
        _send(count, START, 0);
        assertEq(SENDER.balance, amount);
        assertEq(address(dataset).balance, 1 ether - amount);
    }

    function testFuzz_updateBatch_repaysKeysOfTheIntervalOnly(uint256 age) public {
        age = bound(age, 1, 2 * INTERVAL);
        _send(3, START, 0);
        uint256 before = SENDER.balance;
        vm.warp(START + age);
        _send(3, START + age, 0);
        assertEq(SENDER.balance - before, age >= INTERVAL ? 3 * GAS_PER_KEY * FEE : 0);
    }

    function testFuzz_updateBatch_repaysNothingForAnOldRound(uint256 age) public {
        age = bound(age, 0, MAX_ROUND_AGE);
        _send(3, START - age, 0);
        assertEq(SENDER.balance, age < INTERVAL ? 3 * GAS_PER_KEY * FEE : 0);
    }

    /// Only the first of a transaction's batches pays for the cold slots of its keys.
    function test_updateBatch_repaysAKeyOnceInATransaction() public {
        _send(5, START - 3 * INTERVAL, 0);
        for (uint256 i = 3; i > 0; --i) {
            _send(5, START - (i - 1) * INTERVAL, 0);
        }
        assertEq(SENDER.balance, 5 * GAS_PER_KEY * FEE);
    }

    /// Of ten keys, those whose bit is set in `wrong` have a pick that the rows do not support.
    function testFuzz_updateBatch_repaysNothingForKeysThatAreNotStored(uint256 wrong) public {
        wrong %= 1 << 10;
        _send(10, START, wrong);
        uint256 stored = 0;
        for (uint256 i = 0; i < 10; ++i) {
            if ((wrong >> i) & 1 == 0) ++stored;
        }
        assertEq(SENDER.balance, stored * GAS_PER_KEY * FEE);
        // If the same round is sent again, only keys that were not stored yet are repaid for.
        _send(10, START, wrong);
        assertEq(SENDER.balance, stored * GAS_PER_KEY * FEE);
        _send(10, START, 0);
        assertEq(SENDER.balance, 10 * GAS_PER_KEY * FEE);
    }

    /// A key without data is repaid for as well, because it costs as much to store.
    function test_updateBatch_repaysForKeysWithoutData() public {
        uint256[] memory missing = new uint256[](3);
        for (uint256 row = 0; row < 3; ++row) {
            missing[row] = 3;
        }
        Batch memory batch = _batch(4, START, 0, missing);
        vm.prank(SENDER);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(uint256(outcomes[0]), uint256(IDataset.KeyOutcome.STORED));
        assertEq(SENDER.balance, 4 * GAS_PER_KEY * FEE);
    }

    /// One of three rows has no value for one key, so that neither its values nor its absentees are a quorum.
    function test_updateBatch_repaysNothingForAKeyWithoutAQuorum() public {
        uint256[] memory missing = new uint256[](3);
        missing[1] = 1 << 2;
        Batch memory batch = _batch(4, START, 0, missing);
        vm.prank(SENDER);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(uint256(outcomes[2]), uint256(IDataset.KeyOutcome.NO_QUORUM));
        assertEq(SENDER.balance, 3 * GAS_PER_KEY * FEE);
    }

    function test_updateBatch_repaysNothingWithoutACap() public {
        dataset = _deploy(INTERVAL, 0);
        vm.deal(address(dataset), 1 ether);
        _send(5, START, 0);
        assertEq(SENDER.balance, 0);
        (uint256 interval, uint256 feeCap, uint256 gasPerKey) = dataset.repaymentRule();
        assertEq(interval, INTERVAL);
        assertEq(feeCap, 0);
        assertEq(gasPerKey, GAS_PER_KEY);
    }

    function test_update_repaysNothing() public {
        vm.prank(SENDER);
        providers.report(dataset, KEY, START, valuesNear3000(4, 1)).send(dataset);
        assertEq(SENDER.balance, 0);
    }

    /// A committee of one has the cheapest keys. What is repaid for a key is less than what one more key costs.
    function test_updateBatch_repaysLessThanItCosts() public {
        providers = new Providers(1, TOLERANCE_BPS);
        dataset = _deploy(INTERVAL, FEE_CAP);
        uint256 one = _gasOf(_batch(1, START, 0));
        uint256 hundred = _gasOf(_batch(100, START + 60, 0));
        (,, uint256 gasPerKey) = dataset.repaymentRule();
        assertLt(100 * gasPerKey, hundred - one + 21_000);
    }

    // ---------------------------------------------------------------- the income

    function testFuzz_updateBatch_repaysOutOfTheIncomeThatIsThere(uint256 income) public {
        uint256 due = 10 * GAS_PER_KEY * FEE;
        income = bound(income, 0, 2 * due);
        vm.deal(address(dataset), income);
        _send(10, START, 0);
        // The bound on what is reserved is 1 wei, although nothing is.
        assertEq(SENDER.balance, Math.min(Math.saturatingSub(income, 1), due));
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), address(dataset).balance);
    }

    /// What is owed to a member, or set aside for another committee, repays nobody.
    function test_updateBatch_repaysOutOfTheIncomeOfItsCommitteeOnly() public {
        address[] memory members = providers.members();
        vm.etch(members[0], hex"5f5ffd");
        vm.deal(address(dataset), 4 ether);
        dataset.shareIncome(members, TOLERANCE_BPS);
        vm.deal(address(dataset), address(dataset).balance + 2 ether);
        bytes32 former = dataset.committeeHash();
        providers = new Providers(5, TOLERANCE_BPS);
        address[] memory next = providers.members();
        vm.prank(OWNER);
        dataset.setCommittee(next, TOLERANCE_BPS);
        _send(10, START, 0);
        assertEq(SENDER.balance, 0);
        assertEq(dataset.unpaidShares(members[0]), 1 ether);
        assertEq(dataset.unsharedIncomeOf(former), 2 ether);
    }

    /// New income of up to 1/128 of what is set aside cannot be told apart from it, and is not spent.
    function testFuzz_updateBatch_leavesWhatIsSetAside(uint88 aside, uint88 income) public {
        vm.deal(address(dataset), aside);
        bytes32 former = dataset.committeeHash();
        providers = new Providers(5, TOLERANCE_BPS);
        address[] memory next = providers.members();
        vm.prank(OWNER);
        dataset.setCommittee(next, TOLERANCE_BPS);
        vm.deal(address(dataset), uint256(aside) + income);
        _send(10, START, 0);
        uint256 due = 10 * GAS_PER_KEY * FEE;
        assertLe(SENDER.balance, Math.min(due, income));
        assertGe(SENDER.balance, Math.min(due, Math.saturatingSub(income, uint256(aside) / 128 + 1)));
        assertEq(dataset.unsharedIncomeOf(former), aside);
    }

    function test_updateBatch_repaysOutOfNewIncomeAfterASharingAndAClaim() public {
        address[] memory members = providers.members();
        vm.etch(members[0], hex"5f5ffd");
        vm.deal(address(dataset), 40 ether);
        dataset.shareIncome(members, TOLERANCE_BPS);
        assertEq(dataset.unpaidShares(members[0]), 10 ether);
        vm.deal(address(dataset), 10.1 ether);
        _send(10, START, 0);
        assertEq(SENDER.balance, 10 * GAS_PER_KEY * FEE);
        vm.prank(members[0]);
        dataset.claimShares(OWNER);
        vm.deal(address(dataset), 0.01 ether);
        vm.warp(START + INTERVAL);
        _send(10, START + INTERVAL, 0);
        assertEq(SENDER.balance, 20 * GAS_PER_KEY * FEE);
    }

    /// The sender's account has 2,300 gas, which suffices for nothing but to accept.
    function test_updateBatch_storesThoughTheSenderAcceptsNothing() public {
        vm.etch(SENDER, type(IncomeSharer).runtimeCode);
        IncomeSharer(payable(SENDER)).prepare(dataset, providers.members(), TOLERANCE_BPS);
        uint256 snapshot = vm.snapshotState();
        _send(10, START, 0);
        assertEq(SENDER.balance, 0);
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), 1 ether);
        (, uint256 updatedAt,) = query(dataset, keys[0]);
        assertEq(updatedAt, START);
        // With more gas, the same account shares the income while it is paid.
        vm.revertToState(snapshot);
        vm.deal(address(this), 1);
        (bool isAccepted,) = SENDER.call{value: 1}("");
        assertTrue(isAccepted);
        assertEq(address(dataset).balance, 0);
    }

    // ---------------------------------------------------------------- helpers

    function _deploy(uint256 interval, uint256 feeCap) private returns (IDataset deployed) {
        DatasetSettings memory settings_ = settings(providers);
        (settings_.repaymentInterval, settings_.repaymentFeeCap) = (interval, feeCap);
        deployed = deploy(settings_);
        delete keys;
        for (uint256 i = 0; i < 100; ++i) {
            keys.push(abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD"));
            deployed.announce(keys[i]);
        }
    }

    function _send(uint256 count, uint256 round, uint256 wrong) private {
        Batch memory batch = _batch(count, round, wrong);
        vm.prank(SENDER);
        batch.send(dataset);
    }

    function _batch(uint256 count, uint256 round, uint256 wrong) private view returns (Batch memory) {
        uint256 signers = providers.members().length < 3 ? 1 : (providers.members().length * 2) / 3 + 1;
        return _batch(count, round, wrong, new uint256[](signers));
    }

    /// @dev The first of three values is never the median, so that its pick is wrong.
    function _batch(uint256 count, uint256 round, uint256 wrong, uint256[] memory missing)
        private
        view
        returns (Batch memory batch)
    {
        bytes32[][] memory rows = new bytes32[][](missing.length);
        for (uint256 row = 0; row < rows.length; ++row) {
            rows[row] = new bytes32[](count);
            for (uint256 i = 0; i < count; ++i) {
                rows[row][i] = bytes32(3000e18 + row);
            }
        }
        bytes[] memory names = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            names[i] = keys[i];
        }
        batch = providers.reportMany(dataset, names, round, rows, missing);
        for (uint256 i = 0; i < count; ++i) {
            if ((wrong >> i) & 1 == 1) batch.picks[i] = rows.length == 1 ? bytes1(0x01) : bytes1(0x00);
        }
    }

    function _gasOf(Batch memory batch) private returns (uint256 used) {
        vm.warp(batch.timestamp);
        bytes memory data = abi.encodeCall(IDataset.updateBatch, (batch));
        vm.cool(address(dataset));
        used = gasleft();
        (bool isDone,) = address(dataset).call(data);
        used -= gasleft();
        assertTrue(isDone);
        for (uint256 i = 0; i < data.length; ++i) {
            used += data[i] == 0 ? 4 : 16;
        }
    }
}
