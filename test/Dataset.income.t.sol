// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";

/// @notice The committee's accounts may be any contracts: none of them can block another's income.
contract DatasetIncomeTest is DatasetFixture {
    /// @dev The gas that a member's account gets, and the gas that the dataset requires after it.
    uint256 private constant SHARE_GAS = 10_000;
    uint256 private constant MIN_GAS_LEFT = 10_158;

    address[] private members;

    // ---------------------------------------------------------------- equal shares

    /// No Ether is lost or created, whichever members refuse, whatever the balance: a refused share stays, and only its
    /// member can claim it.
    function testFuzz_shareIncome_losesNothing(uint256 size, uint96 income, uint256 refusing) public {
        _deployWithMembers(_accounts(bound(size, 1, 60)));
        vm.deal(address(dataset), income);
        uint256 share = income / members.length;
        uint256 paid = 0;
        for (uint256 i = 0; i < members.length; ++i) {
            if ((refusing >> i) & 1 == 0) {
                paid += share;
            } else {
                vm.etch(members[i], type(Refuser).runtimeCode);
                if (share == 0) continue;
                vm.expectEmit(address(dataset));
                emit IDataset.ShareRefused(members[i], share);
            }
        }
        vm.expectEmit(address(dataset));
        emit IDataset.IncomeShared(_hash(members, TOLERANCE_BPS), share, paid);
        _share();

        for (uint256 i = 0; i < members.length; ++i) {
            assertEq(members[i].balance, (refusing >> i) & 1 == 0 ? share : 0);
            assertEq(dataset.unpaidShares(members[i]), (refusing >> i) & 1 == 0 ? 0 : share);
        }
        assertEq(address(dataset).balance, income - paid);
        address purse = makeAddr("purse");
        for (uint256 i = 0; share > 0 && i < members.length; ++i) {
            if ((refusing >> i) & 1 == 1) _claim(members[i], purse);
        }
        assertEq(purse.balance, share * members.length - paid);
        assertEq(address(dataset).balance, income % members.length);
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), income % members.length);
    }

    // ---------------------------------------------------------------- recipients

    function testFuzz_shareIncome_RevertWhen_theCommitteeIsAnother(uint256 toleranceBps, uint256 place, address other)
        public
    {
        _deployWithMembers(_accounts(4));
        address[] memory shown = members;
        vm.assume(toleranceBps != TOLERANCE_BPS && shown[place %= 4] != other);
        _assertNothingToShare(shown, toleranceBps);
        shown[place] = other;
        _assertNothingToShare(shown, TOLERANCE_BPS);
        // Nor can the tolerance be taken for a member: it comes first in the hash.
        shown = new address[](3);
        (shown[0], shown[1], shown[2]) = (members[1], members[2], members[3]);
        _assertNothingToShare(shown, uint256(uint160(members[0])));
    }

    // ---------------------------------------------------------------- each committee's income is its own

    /// Whatever committee is set at the time, every payment is the income of the committee that it was made under.
    function testFuzz_shareIncome_sharesTheIncomeOfEachCommittee(uint256[12] memory steps) public {
        address[][3] memory committees = [_accounts(2), _accounts(3), _accounts(5)];
        uint256[3] memory earned;
        uint256 seated = 0;
        _deployWithMembers(committees[0]);
        for (uint256 i = 0; i < steps.length; ++i) {
            uint256 amount = steps[i] % 1 ether;
            vm.deal(address(dataset), address(dataset).balance + amount);
            earned[seated] += amount;
            // It may be the same one again.
            seated = (steps[i] >> 128) % 3;
            _setCommittee(committees[seated]);
        }
        uint256 unpaid = 0;
        for (uint256 i = 0; i < 3; ++i) {
            assertEq(dataset.unsharedIncomeOf(_hash(committees[i], TOLERANCE_BPS)), earned[i]);
            if (earned[i] == 0 && i != seated) continue;
            uint256 share = earned[i] / committees[i].length;
            uint256 before = committees[i][0].balance;
            vm.expectEmit(address(dataset));
            emit IDataset.IncomeShared(_hash(committees[i], TOLERANCE_BPS), share, share * committees[i].length);
            dataset.shareIncome(committees[i], TOLERANCE_BPS);
            assertEq(committees[i][0].balance, before + share);
            unpaid += earned[i] % committees[i].length;
        }
        assertEq(address(dataset).balance, unpaid);
    }

    /// The tolerance belongs to the committee: with another one, the same members are another committee.
    function test_shareIncome_paysAFormerCommitteeOnce() public {
        _deployWithMembers(_accounts(4));
        vm.deal(address(dataset), 4 ether);
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS + 1);
        vm.deal(address(dataset), 12 ether);
        _share();
        assertEq(members[3].balance, 1 ether);
        vm.expectRevert(abi.encodeWithSelector(IDataset.NothingToShare.selector, _hash(members, TOLERANCE_BPS)));
        _share();
        dataset.shareIncome(members, TOLERANCE_BPS + 1);
        assertEq(members[3].balance, 3 ether);
        assertEq(address(dataset).balance, 0);
    }

    /// No member, whatever its account does, can prevent a new committee.
    function test_setCommittee_callsNoMember() public {
        _deployWithMembers(_accounts(4));
        vm.deal(address(dataset), 4 ether);
        address[] memory next = _accounts(2);
        for (uint256 i = 0; i < 4; ++i) {
            vm.expectCall(members[i], "", 0);
        }
        vm.prank(OWNER);
        dataset.setCommittee(next, TOLERANCE_BPS);
        assertEq(dataset.committeeHash(), _hash(next, TOLERANCE_BPS));
        assertEq(dataset.unsharedIncomeOf(_hash(members, TOLERANCE_BPS)), 4 ether);
    }

    // ---------------------------------------------------------------- accounts that refuse payment

    /// Neither one that burns its gas, nor one with a long reason, nor one with a long answer, which alone is paid.
    function test_shareIncome_isBlockedByNoMember() public {
        address[3] memory accounts = [address(new Burner()), address(new LongReason()), address(new LongAnswer())];
        for (uint256 i = 0; i < 3; ++i) {
            _deployWithMembers(_accounts(4));
            _replaceFirst(accounts[i]);
            vm.deal(address(dataset), 4 ether);
            uint256 used = gasleft();
            _share();
            used -= gasleft();
            // The EVM's price of four new accounts or slots, and the gas of one account.
            assertLt(used, 4 * 40_000 + SHARE_GAS);
            assertEq(address(dataset).balance, i < 2 ? 1 ether : 0);
            for (uint256 place = 1; place < 4; ++place) {
                assertEq(members[place].balance, (i + 1) * 1 ether);
            }
        }
    }

    /// Transactions are limited to 2^24 gas (EIP-7825). The rest of it is the transaction's own and its calldata's.
    function test_shareIncome_fitsOneTransactionWhenTheLargestCommitteeBurns() public {
        _deployWithMembers(_accounts(255));
        for (uint256 i = 0; i < 255; ++i) {
            vm.etch(members[i], type(Burner).runtimeCode);
            vm.cool(members[i]);
        }
        vm.deal(address(dataset), 255 ether);
        vm.cool(address(dataset));
        uint256 before = gasleft();
        _share();
        assertLt(before - gasleft(), 2 ** 24 - 200_000);
        assertEq(dataset.unpaidShares(members[254]), 1 ether);
    }

    // ---------------------------------------------------------------- refused shares

    /// A refused share stays its member's, even if it accepts the next one, or is no member any more.
    function test_shareIncome_owesARefusedShareToItsMember() public {
        _deployWithMembers(_accounts(4));
        vm.etch(members[2], type(Refuser).runtimeCode);
        vm.deal(address(dataset), 4 ether);
        _share();
        assertEq(dataset.unpaidShares(members[2]), 1 ether);

        vm.etch(members[2], "");
        vm.deal(address(dataset), 5 ether);
        _share();
        assertEq(members[2].balance, 1 ether);
        assertEq(members[0].balance, 2 ether);
        assertEq(address(dataset).balance, 1 ether);

        _setCommittee(_accounts(2));
        _claim(members[2], members[2]);
        assertEq(members[2].balance, 2 ether);
        assertEq(address(dataset).balance, 0);
    }

    function testFuzz_claimShares_paysAnyAccountOnce(uint96 income, address to) public {
        vm.assume(to.code.length == 0 && uint160(to) > 255 && to != address(vm));
        _deployWithMembers(_accounts(4));
        vm.etch(members[1], type(Refuser).runtimeCode);
        vm.deal(address(dataset), bound(income, 4, type(uint96).max));
        uint256 share = address(dataset).balance / 4;
        _share();
        uint256 before = to.balance;
        vm.expectEmit(address(dataset));
        emit IDataset.SharesClaimed(members[1], to, share);
        _claim(members[1], to);
        assertEq(to.balance, before + share);
        assertEq(dataset.unpaidShares(members[1]), 0);
        vm.expectRevert(abi.encodeWithSelector(IDataset.NothingToClaim.selector, members[1]));
        _claim(members[1], to);
    }

    function test_claimShares_RevertWhen_theAccountRejectsThem() public {
        _deployWithMembers(_accounts(4));
        vm.etch(members[1], type(Refuser).runtimeCode);
        vm.deal(address(dataset), 4 ether);
        _share();
        vm.expectRevert(abi.encodeWithSelector(IDataset.ClaimRejected.selector, members[1], 1 ether));
        _claim(members[1], members[1]);
        assertEq(dataset.unpaidShares(members[1]), 1 ether);
        assertEq(address(dataset).balance, 1 ether);
    }

    /// Owed shares are not shared again, not even while they are being claimed.
    function test_claimShares_RevertWhen_reentered() public {
        Caller caller = _deployWithCaller();
        vm.etch(members[0], type(Refuser).runtimeCode);
        vm.deal(address(dataset), 8 ether);
        _share();
        vm.etch(members[0], address(new Caller()).code);
        caller.plan(address(dataset), 0, abi.encodeCall(IDataset.shareIncome, (members, TOLERANCE_BPS)));
        _claim(members[0], members[0]);
        assertEq(caller.reason(), ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        assertEq(address(caller).balance, 2 ether);
    }

    // ---------------------------------------------------------------- accounts that call back

    function test_shareIncome_RevertWhen_reentered() public {
        Caller caller = _deployWithCaller();
        caller.plan(address(dataset), 0, abi.encodeCall(IDataset.shareIncome, (members, TOLERANCE_BPS)));
        vm.deal(address(dataset), 4 ether);
        _share();
        assertEq(caller.reason(), ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
        // The reentrancy guard is released again.
        _share();
    }

    /// A member's gas does not pay for a query, but Ether can also be forced into the dataset: it is new income.
    function test_shareIncome_keepsEtherForcedInMeanwhile() public {
        _deployWithMembers(_accounts(4));
        _replaceFirst(address(new Returner()));
        vm.deal(address(dataset), 4 ether);
        vm.expectEmit(address(dataset));
        emit IDataset.IncomeShared(_hash(members, TOLERANCE_BPS), 1 ether, 4 ether);
        _share();
        for (uint256 i = 1; i < 4; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
        assertEq(address(dataset).balance, 1 ether);
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), 1 ether);
    }

    /// An owner that is a member changes the committee during the call: the old committee still gets this income.
    function test_shareIncome_isNotDisturbedByANewCommittee() public {
        Caller caller = new Caller();
        address[] memory next = new address[](1);
        next[0] = address(caller);
        members = _accounts(4);
        members[0] = address(caller);
        DatasetSettings memory settings_ = settings(providers);
        (settings_.owner, settings_.members) = (address(caller), members);
        dataset = deploy(settings_);
        caller.plan(address(dataset), 0, abi.encodeCall(IDataset.setCommittee, (next, TOLERANCE_BPS)));
        vm.deal(address(dataset), 4 ether);
        _share();
        assertTrue(caller.isDone());
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
        assertEq(dataset.committeeHash(), _hash(next, TOLERANCE_BPS));
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), 0);
        _assertNothingToShare(members, TOLERANCE_BPS);
    }

    // ---------------------------------------------------------------- too little gas

    /// A caller cannot starve a member: with any gas limit, each member gets its 10,000 gas or the call reverts.
    function testFuzz_shareIncome_givesEachItsGasOrReverts(uint256 gas_) public {
        _deployWithMembers(_accounts(4));
        for (uint256 i = 0; i < 4; ++i) {
            // The first two accounts do not exist yet: creating them costs more, and they need no gas. With the rest,
            // the last two could be starved.
            if (i >= 2) vm.etch(members[i], type(Hungry).runtimeCode);
            vm.cool(members[i]);
        }
        vm.deal(address(dataset), 4 ether);
        vm.cool(address(dataset));
        (bool done, bytes memory reason) = _shareWithGas(bound(gas_, 21_000, 250_000));
        if (done) {
            assertEq(address(dataset).balance, 0);
        } else {
            assertEq(address(dataset).balance, 4 ether);
            _assertTooLittleGas(reason);
        }
    }

    /// The last member is the one to starve: with the least gas that does not revert, it gets all of its gas.
    function test_shareIncome_RevertWhen_tooLittleGasIsLeft() public {
        _deployWithMembers(_accounts(1));
        vm.etch(members[0], type(Hungry).runtimeCode);
        vm.deal(address(dataset), 1 ether);
        uint256 gas_ = 21_000;
        bool isNamed = false;
        (bool done, bytes memory reason) = _shareWithGas(gas_);
        while (!done) {
            _assertTooLittleGas(reason);
            isNamed = isNamed || reason.length > 0;
            gas_ += 50;
            (done, reason) = _shareWithGas(gas_);
        }
        assertTrue(isNamed);
        assertEq(members[0].balance, 1 ether);
        assertEq(address(dataset).balance, 0);
    }

    /// A call with Ether brings a stipend: it is a part of the 10,000, not added to it.
    function test_shareIncome_givesNoMemberMoreGas() public {
        _deployWithMembers(_accounts(4));
        Meter meter = new Meter();
        _replaceFirst(address(meter));
        vm.deal(address(dataset), 4 ether);
        _share();
        assertLe(meter.gas_(), SHARE_GAS);
        assertGt(meter.gas_(), SHARE_GAS - 100);
    }

    // ---------------------------------------------------------------- no plain Ether

    function testFuzz_receive_rejectsPlainEther(uint96 amount, bytes memory data) public {
        vm.assume(amount > 0);
        vm.deal(address(this), amount);
        (bool done,) = address(dataset).call{value: amount}("");
        assertFalse(done);
        vm.assume(selector(data) != dataset.query.selector);
        (done,) = address(dataset).call{value: amount}(data);
        assertFalse(done);
        assertEq(address(dataset).balance, 0);
    }

    // ---------------------------------------------------------------- helpers

    /// @dev Returns accounts without a known key, ascending, above every contract's address.
    function _accounts(uint256 count) private pure returns (address[] memory accounts) {
        accounts = new address[](count);
        for (uint160 i = 0; i < count; ++i) {
            accounts[i] = address(type(uint160).max - 300 + i);
        }
    }

    function _deployWithMembers(address[] memory accounts) private {
        members = accounts;
        DatasetSettings memory settings_ = settings(providers);
        settings_.members = accounts;
        dataset = deploy(settings_);
    }

    /// @dev Has a first member that makes a call when it is paid.
    function _deployWithCaller() private returns (Caller caller) {
        _deployWithMembers(_accounts(4));
        _replaceFirst(address(caller = new Caller()));
    }

    /// @dev All other members are paid after it.
    function _replaceFirst(address account) private {
        members[0] = account;
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
    }

    function _setCommittee(address[] memory accounts) private {
        vm.prank(OWNER);
        dataset.setCommittee(accounts, TOLERANCE_BPS);
    }

    function _claim(address member, address to) private {
        vm.prank(member);
        dataset.claimShares(to);
    }

    function _hash(address[] memory accounts, uint256 toleranceBps) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(toleranceBps, accounts));
    }

    function _share() private {
        dataset.shareIncome(members, TOLERANCE_BPS);
    }

    function _shareWithGas(uint256 gas_) private returns (bool, bytes memory) {
        bytes memory data = abi.encodeCall(IDataset.shareIncome, (members, TOLERANCE_BPS));
        return address(dataset).call{gas: gas_}(data);
    }

    /// @dev Without enough gas to encode the error, the revert data is empty.
    function _assertTooLittleGas(bytes memory reason) private pure {
        if (reason.length == 0) return;
        assertEq(selector(reason), IDataset.TooLittleGas.selector);
        (uint256 left, uint256 needed) = abi.decode(_arguments(reason), (uint256, uint256));
        assertEq(needed, MIN_GAS_LEFT);
        assertLt(left, needed);
    }

    function _arguments(bytes memory reason) private pure returns (bytes memory arguments) {
        arguments = new bytes(reason.length - 4);
        for (uint256 i = 0; i < arguments.length; ++i) {
            arguments[i] = reason[i + 4];
        }
    }

    function _assertNothingToShare(address[] memory shown, uint256 toleranceBps) private {
        vm.deal(address(dataset), 4 ether);
        vm.expectRevert(abi.encodeWithSelector(IDataset.NothingToShare.selector, _hash(shown, toleranceBps)));
        dataset.shareIncome(shown, toleranceBps);
        assertEq(address(dataset).balance, 4 ether);
    }
}

contract Refuser {
    receive() external payable {
        revert("no, thank you");
    }
}

contract Burner {
    receive() external payable {
        while (true) {}
    }
}

/// @dev Returns as much data as its gas allows: if the dataset copied it, that would cost the same again.
contract LongReason {
    receive() external payable {
        assembly {
            revert(0, 40000)
        }
    }
}

contract LongAnswer {
    receive() external payable {
        assembly {
            return(0, 40000)
        }
    }
}

/// @dev Accepts its share only with all of the promised gas.
contract Hungry {
    receive() external payable {
        require(gasleft() > 9_900);
    }
}

/// @dev Records the gas that it got with its share. It is not enough to store anything.
contract Meter {
    uint256 public transient gas_;

    receive() external payable {
        gas_ = gasleft();
    }
}

/// @dev Accepts its share, and forces it back into the dataset.
contract Returner {
    receive() external payable {
        selfdestruct(payable(msg.sender));
    }
}

/// @dev Accepts its share and makes one call while it does.
contract Caller {
    bool public transient isDone;
    bytes4 public transient reason;

    address private _target;
    uint256 private _value;
    bytes private _data;

    receive() external payable {
        if (isDone || reason != 0) return;
        (bool done, bytes memory answer) = _target.call{value: _value}(_data);
        isDone = done;
        // Only the selector is of interest.
        // forge-lint: disable-next-line(unsafe-typecast)
        if (!done) reason = bytes4(answer);
    }

    function plan(address target, uint256 value, bytes calldata data) external {
        (_target, _value, _data) = (target, value, data);
    }
}
