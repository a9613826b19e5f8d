// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Batch, DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";

/// @notice Senders of batches are credited, and repaid out of the income of the committee.
contract DatasetCreditsTest is DatasetFixture {
    uint256 private constant INTERVAL = 60;
    uint256 private constant FEE_CAP = 10 gwei;
    uint256 private constant GAS_PER_KEY = 8_000;
    address private constant SENDER = address(0x5e2d);
    address private constant OTHER = address(0x07e8);

    bytes[] private keys;

    function setUp() public override {
        super.setUp();
        providers = new Providers(4, TOLERANCE_BPS);
        dataset = _deploy(INTERVAL, FEE_CAP);
        vm.fee(2 gwei);
    }

    // ---------------------------------------------------------------- credits

    function testFuzz_updateBatch_creditsTheBaseFeeUpToTheCap(uint256 fee, uint256 count) public {
        fee = bound(fee, 0, 1000 gwei);
        vm.fee(fee);
        count = bound(count, 1, 12);
        _send(SENDER, count, START, 0);
        assertEq(_creditOf(SENDER), count * GAS_PER_KEY * (fee < FEE_CAP ? fee : FEE_CAP));
        assertEq(_creditOf(OTHER), 0);
    }

    function testFuzz_updateBatch_creditsKeysOfTheIntervalOnly(uint256 age) public {
        age = bound(age, 1, 2 * INTERVAL);
        _send(SENDER, 3, START, 0);
        uint256 before = _creditOf(SENDER);
        vm.warp(START + age);
        _send(SENDER, 3, START + age, 0);
        assertEq(_creditOf(SENDER) - before, age >= INTERVAL ? 3 * GAS_PER_KEY * 2 gwei : 0);
    }

    /// Of ten keys, those with a bit have a pick that the rows do not support.
    function testFuzz_updateBatch_creditsNothingForKeysThatAreNotStored(uint256 wrong) public {
        wrong %= 1 << 10;
        _send(SENDER, 10, START, wrong);
        uint256 stored = 0;
        for (uint256 i = 0; i < 10; ++i) {
            if ((wrong >> i) & 1 == 0) ++stored;
        }
        assertEq(_creditOf(SENDER), stored * GAS_PER_KEY * 2 gwei);
        // Of the same round, nothing is stored.
        _send(SENDER, 10, START, (1 << 10) - 1 - wrong);
        assertEq(_creditOf(SENDER), 10 * GAS_PER_KEY * 2 gwei);
        _send(SENDER, 10, START, 0);
        assertEq(_creditOf(SENDER), 10 * GAS_PER_KEY * 2 gwei);
    }

    function test_updateBatch_creditsNothingWithoutACap() public {
        dataset = _deploy(0, 0);
        _send(SENDER, 5, START, 0);
        assertEq(_creditOf(SENDER), 0);
        (uint256 interval, uint256 feeCap, uint256 gasPerKey) = dataset.creditPolicy();
        assertEq(interval + feeCap, 0);
        assertEq(gasPerKey, GAS_PER_KEY);
    }

    function test_update_creditsNothing() public {
        vm.prank(SENDER);
        providers.report(dataset, KEY, START, valuesNear3000(4, 1)).send(dataset);
        assertEq(_creditOf(SENDER), 0);
    }

    /// A committee of one has the cheapest keys. What is credited for a key is less than what one more key costs.
    function test_updateBatch_creditsLessThanItCosts() public {
        providers = new Providers(1, TOLERANCE_BPS);
        dataset = _deploy(INTERVAL, FEE_CAP);
        uint256 one = _gasOf(_batch(1, START, 0));
        uint256 hundred = _gasOf(_batch(100, START + 60, 0));
        (,, uint256 gasPerKey) = dataset.creditPolicy();
        assertLt(100 * gasPerKey, hundred - one + 21_000);
    }

    // ---------------------------------------------------------------- repaying

    function test_shareIncomeAfterRepaying_repaysFirst() public {
        _send(SENDER, 10, START, 0);
        uint256 credit = _creditOf(SENDER);
        vm.deal(address(dataset), credit + 4 ether);
        vm.expectEmit(address(dataset));
        emit IDataset.SenderRepaid(SENDER, credit);
        vm.expectEmit(address(dataset));
        emit IDataset.IncomeShared(1 ether, 4 ether);
        _share(_one(SENDER));
        assertEq(SENDER.balance, credit);
        assertEq(_creditOf(SENDER), 0);
        assertEq(providers.members()[0].balance, 1 ether);
        assertEq(address(dataset).balance, 0);
    }

    /// Named twice, or again later, a sender is repaid once.
    function test_shareIncomeAfterRepaying_repaysOnce() public {
        _send(SENDER, 10, START, 0);
        uint256 credit = _creditOf(SENDER);
        vm.deal(address(dataset), 4 ether);
        address[] memory senders = new address[](2);
        (senders[0], senders[1]) = (SENDER, SENDER);
        _share(senders);
        vm.deal(address(dataset), 4 ether);
        _share(senders);
        assertEq(SENDER.balance, credit);
    }

    function testFuzz_shareIncomeAfterRepaying_isLimitedByTheIncome(uint256 income) public {
        _send(SENDER, 10, START, 0);
        uint256 credit = _creditOf(SENDER);
        income = bound(income, 0, 2 * credit);
        vm.deal(address(dataset), income);
        _share(_one(SENDER));
        uint256 paid = income < credit ? income : credit;
        assertEq(SENDER.balance, paid);
        assertEq(_creditOf(SENDER), credit - paid);
        vm.deal(address(dataset), credit);
        _share(_one(SENDER));
        assertEq(SENDER.balance, credit);
    }

    /// What is owed to a member, or set aside for another committee, repays nobody.
    function test_shareIncomeAfterRepaying_takesTheIncomeOfTheCommitteeOnly() public {
        address[] memory members = providers.members();
        vm.etch(members[0], hex"5f5ffd");
        vm.deal(address(dataset), 4 ether);
        dataset.shareIncome(members, TOLERANCE_BPS);
        Providers old = providers;
        vm.deal(address(dataset), address(dataset).balance + 2 ether);
        providers = new Providers(5, TOLERANCE_BPS);
        address[] memory next = providers.members();
        vm.prank(OWNER);
        dataset.setCommittee(next, TOLERANCE_BPS);
        _send(SENDER, 10, START, 0);
        _share(_one(SENDER));
        assertEq(SENDER.balance, 0);
        // The old committee repays nobody for batches of the new one.
        dataset.shareIncomeAfterRepaying(TOLERANCE_BPS, old.members(), _one(SENDER));
        assertEq(SENDER.balance, 0);
        assertEq(dataset.unpaidShares(members[0]), 1.5 ether);
        assertGt(_creditOf(SENDER), 0);
    }

    function test_shareIncomeAfterRepaying_owesWhatTheSenderRefuses() public {
        _send(SENDER, 10, START, 0);
        uint256 credit = _creditOf(SENDER);
        vm.etch(SENDER, hex"5f5ffd");
        vm.deal(address(dataset), credit);
        _share(_one(SENDER));
        assertEq(dataset.unpaidShares(SENDER), credit);
        assertEq(_creditOf(SENDER), 0);
        vm.prank(SENDER);
        dataset.claimShares(OTHER);
        assertEq(OTHER.balance, credit);
    }

    function test_shareIncomeAfterRepaying_RevertWhen_theCommitteeIsUnknown() public {
        address[] memory members = new Providers(5, TOLERANCE_BPS).members();
        bytes32 shown = keccak256(abi.encodePacked(TOLERANCE_BPS, members));
        vm.expectRevert(abi.encodeWithSelector(IDataset.NothingToShare.selector, shown));
        dataset.shareIncomeAfterRepaying(TOLERANCE_BPS, members, _one(SENDER));
    }

    /// A sender that is the owner sets another committee while it is repaid, and gets nothing more by it.
    function test_shareIncomeAfterRepaying_isNotDisturbedByANewCommittee() public {
        address[] memory members = providers.members();
        _send(OWNER, 10, START, 0);
        uint256 credit = _creditOf(OWNER);
        vm.etch(OWNER, type(RotatingSender).runtimeCode);
        RotatingSender(payable(OWNER)).prepare(dataset, members, TOLERANCE_BPS);
        vm.deal(address(dataset), credit + 4 ether);
        _share(_one(OWNER));
        assertEq(OWNER.balance, credit);
        assertEq(members[0].balance, 1 ether);
        assertEq(address(dataset).balance, 0);
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), 0);
    }

    /// Whatever is sent, paid and shared in whatever order: what was paid in is with the members, with the senders, or
    /// still there, and no sender got more than its credits.
    function testFuzz_credits_addUp(uint256[10] memory steps) public {
        address[] memory members = providers.members();
        uint256 income = 0;
        uint256[2] memory credited;
        for (uint256 i = 0; i < steps.length; ++i) {
            (uint256 step, uint256 round) = (steps[i], START + i * 40);
            vm.warp(round);
            if (step % 3 == 0) {
                uint256 amount = (step >> 8) % 0.001 ether;
                vm.deal(address(dataset), address(dataset).balance + amount);
                income += amount;
            } else if (step % 3 == 1) {
                address sender = step & 256 == 0 ? SENDER : OTHER;
                vm.fee((step >> 16) % (2 * FEE_CAP));
                uint256 before = _creditOf(sender);
                _send(sender, 1 + (step >> 64) % 5, round, step >> 128);
                credited[step & 256 == 0 ? 0 : 1] += _creditOf(sender) - before;
                assertLe(_creditOf(sender) - before, 5 * GAS_PER_KEY * FEE_CAP);
            } else {
                _share(_one(step & 256 == 0 ? SENDER : OTHER));
            }
        }
        assertEq(credited[0], SENDER.balance + _creditOf(SENDER));
        assertEq(credited[1], OTHER.balance + _creditOf(OTHER));
        uint256 paid = SENDER.balance + OTHER.balance;
        for (uint256 i = 0; i < members.length; ++i) {
            paid += members[i].balance;
        }
        assertEq(paid + address(dataset).balance, income);
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), address(dataset).balance);
    }

    // ----------------------------------------------------------------

    function _deploy(uint256 interval, uint256 feeCap) private returns (IDataset deployed) {
        DatasetSettings memory settings_ = settings(providers);
        (settings_.creditInterval, settings_.creditFeeCap) = (interval, feeCap);
        deployed = deploy(settings_);
        delete keys;
        for (uint256 i = 0; i < 100; ++i) {
            keys.push(abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD"));
            deployed.announce(keys[i]);
        }
    }

    function _send(address sender, uint256 count, uint256 round, uint256 wrong) private {
        Batch memory batch = _batch(count, round, wrong);
        vm.prank(sender);
        dataset.updateBatch(batch);
    }

    /// @dev The first of three values is never the median, so that its pick is wrong.
    function _batch(uint256 count, uint256 round, uint256 wrong) private view returns (Batch memory batch) {
        uint256 signers = providers.members().length < 3 ? 1 : (providers.members().length * 2) / 3 + 1;
        bytes32[][] memory rows = new bytes32[][](signers);
        for (uint256 row = 0; row < signers; ++row) {
            rows[row] = new bytes32[](count);
            for (uint256 i = 0; i < count; ++i) {
                rows[row][i] = bytes32(3000e18 + row);
            }
        }
        bytes[] memory names = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            names[i] = keys[i];
        }
        batch = providers.reportMany(dataset, names, round, rows, new uint256[](signers));
        for (uint256 i = 0; i < count; ++i) {
            if ((wrong >> i) & 1 == 1) batch.picks[i] = signers == 1 ? bytes1(0x01) : bytes1(0x00);
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

    function _share(address[] memory senders) private {
        dataset.shareIncomeAfterRepaying(TOLERANCE_BPS, providers.members(), senders);
    }

    function _creditOf(address sender) private view returns (uint256) {
        return dataset.creditsOf(sender, dataset.committeeHash());
    }

    function _one(address sender) private pure returns (address[] memory senders) {
        senders = new address[](1);
        senders[0] = sender;
    }
}

/// @notice Sets the committee that there is again when it is paid.
contract RotatingSender {
    IDataset private dataset;
    address[] private members;
    uint256 private toleranceBps;

    receive() external payable {
        dataset.setCommittee(members, toleranceBps);
    }

    function prepare(IDataset dataset_, address[] calldata members_, uint256 toleranceBps_) external {
        (dataset, members, toleranceBps) = (dataset_, members_, toleranceBps_);
    }
}

/// @notice Measures batches that are credited, in steady state. Not in test/gas, because there every call is a transaction of
/// its own, in which forge sets the base fee to 0.
contract CreditGasTest is DatasetFixture {
    address private constant SENDER = address(0x5e2d);

    bytes private ten;
    bytes private hundred;
    IDataset private other;

    /// @dev What is stored here counts as stored before the transaction.
    function setUp() public override {
        super.setUp();
        vm.fee(2 gwei);
        (dataset, ten) = _prepare(10);
        (other, hundred) = _prepare(100);
    }

    function test_updateBatch_costsLittleMoreIfItIsCredited() public {
        assertLe(_gasOf(dataset, ten, 10), 157_000);
        assertLe(_gasOf(other, hundred, 100), 100 * 10_740);
    }

    function _prepare(uint256 count) private returns (IDataset target, bytes memory data) {
        DatasetSettings memory settings_ = settings(providers);
        (settings_.creditInterval, settings_.creditFeeCap) = (60, 1 gwei);
        target = deploy(settings_);
        bytes[] memory names = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            names[i] = abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD");
            target.announce(names[i]);
        }
        Batch memory batch = _batch(target, names, START - 60);
        vm.prank(SENDER);
        target.updateBatch(batch);
        data = abi.encodeCall(IDataset.updateBatch, (_batch(target, names, START)));
    }

    function _batch(IDataset target, bytes[] memory names, uint256 round) private view returns (Batch memory) {
        bytes32[][] memory rows = new bytes32[][](4);
        for (uint256 row = 0; row < 4; ++row) {
            rows[row] = new bytes32[](names.length);
            uint256[] memory values = valuesNear3000(names.length, round + row);
            for (uint256 i = 0; i < names.length; ++i) {
                rows[row][i] = bytes32(values[i]);
            }
        }
        return providers.reportMany(target, names, round, rows, new uint256[](4));
    }

    /// @dev Includes the 21,000 of the transaction and its calldata.
    function _gasOf(IDataset target, bytes memory data, uint256 count) private returns (uint256 used) {
        uint256 before = target.creditsOf(SENDER, target.committeeHash());
        vm.cool(address(target));
        vm.prank(SENDER);
        bool isDone;
        // Plain Solidity would copy the data once more.
        assembly ("memory-safe") {
            used := gas()
            isDone := call(gas(), target, 0, add(data, 0x20), mload(data), 0, 0)
            used := sub(used, gas())
        }
        assertTrue(isDone);
        assertEq(target.creditsOf(SENDER, target.committeeHash()) - before, count * 8_000 gwei);
        used += 21_000;
        for (uint256 i = 0; i < data.length; ++i) {
            used += data[i] == 0 ? 4 : 16;
        }
        emit log_named_uint(string.concat("batch of ", vm.toString(count), ", credited"), used);
    }
}
