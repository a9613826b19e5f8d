// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Vm} from "forge-std/Vm.sol";

import {DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";

/// @notice The committee's accounts may be any contracts: none of them can block another's income.
contract DatasetIncomeTest is DatasetFixture {
    /// @dev The gas that an account may use, and the gas that the dataset requires before it pays one.
    uint256 private constant SHARE_GAS = 50_000;
    uint256 private constant MIN_GAS_PER_SHARE = 86_793;

    address[] private members;

    // ---------------------------------------------------------------- equal shares

    /// No Ether is lost or created: unpaid shares stay, whichever members refuse, whatever the balance.
    function testFuzz_shareIncome_losesNothing(uint256 size, uint96 income, uint256 refusing) public {
        _seat(_accounts(bound(size, 1, 60)));
        vm.deal(address(dataset), income);
        uint256 share = income / members.length;
        uint256 paid = 0;
        for (uint256 i = 0; i < members.length; ++i) {
            if ((refusing >> i) & 1 == 0) {
                paid += share;
            } else {
                vm.etch(members[i], type(Refuser).runtimeCode);
                vm.expectEmit(address(dataset));
                emit IDataset.ShareRefused(members[i], share);
            }
        }
        vm.expectEmit(address(dataset));
        emit IDataset.IncomeShared(share, paid);
        _share();

        for (uint256 i = 0; i < members.length; ++i) {
            assertEq(members[i].balance, (refusing >> i) & 1 == 0 ? share : 0);
        }
        assertEq(address(dataset).balance, income - paid);
    }

    function test_shareIncome_keepsTheRemainder() public {
        _seat(_accounts(3));
        vm.deal(address(dataset), 11);
        _share();
        assertEq(address(dataset).balance, 2);
        vm.deal(address(dataset), 4);
        _share();
        assertEq(members[0].balance, 4);
        assertEq(address(dataset).balance, 1);
    }

    function test_shareIncome_sharesWhatQueriesPaid() public {
        _seat(_accounts(4));
        for (uint256 i = 0; i < 8; ++i) {
            query(dataset, KEY);
        }
        _share();
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(members[i].balance, 2 * PRICE);
        }
        assertEq(address(dataset).balance, 0);
    }

    function test_shareIncome_sharesNothingWithoutIncome() public {
        _seat(_accounts(4));
        vm.recordLogs();
        _share();
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].data, abi.encode(0, 0));
    }

    function test_shareIncome_paysACommitteeOf255() public {
        _seat(_accounts(255));
        vm.deal(address(dataset), 255 ether);
        _share();
        assertEq(members[0].balance, 1 ether);
        assertEq(members[254].balance, 1 ether);
    }

    /// A rejected share is not reserved for the member that rejected it: the next time it is shared among all.
    function test_shareIncome_sharesRefusedIncomeNextTime() public {
        _seat(_accounts(4));
        vm.etch(members[2], type(Refuser).runtimeCode);
        vm.deal(address(dataset), 4 ether);
        _share();
        assertEq(address(dataset).balance, 1 ether);
        vm.etch(members[2], "");
        _share();
        assertEq(members[2].balance, 0.25 ether);
        assertEq(members[0].balance, 1.25 ether);
    }

    function testFuzz_shareIncome_mayBeCalledByAnyone(address caller) public {
        _seat(_accounts(4));
        vm.assume(caller != address(vm) && caller.code.length == 0 && caller < members[0]);
        vm.deal(address(dataset), 4 ether);
        uint256 before = caller.balance;
        vm.prank(caller);
        dataset.shareIncome(members, TOLERANCE_BPS);
        assertEq(members[0].balance, 1 ether);
        assertEq(caller.balance, before);
    }

    // ---------------------------------------------------------------- recipients

    function testFuzz_shareIncome_RevertWhen_theToleranceDiffers(uint256 toleranceBps) public {
        vm.assume(toleranceBps != TOLERANCE_BPS);
        _seat(_accounts(4));
        _refuse(members, toleranceBps);
    }

    function testFuzz_shareIncome_RevertWhen_aMemberDiffers(uint256 place, address other) public {
        _seat(_accounts(4));
        address[] memory shown = members;
        vm.assume(shown[place %= 4] != other);
        shown[place] = other;
        _refuse(shown, TOLERANCE_BPS);
    }

    function test_shareIncome_RevertWhen_theListDiffers() public {
        _seat(_accounts(4));
        _refuse(new address[](0), TOLERANCE_BPS);
        _refuse(_accounts(3), TOLERANCE_BPS);
        _refuse(_accounts(5), TOLERANCE_BPS);
        address[] memory shown = members;
        (shown[0], shown[1]) = (shown[1], shown[0]);
        _refuse(shown, TOLERANCE_BPS);
        (shown[0], shown[1]) = (shown[1], shown[1]);
        _refuse(shown, TOLERANCE_BPS);
    }

    /// The tolerance comes before the members in the hash: neither can be taken for the other.
    function test_shareIncome_RevertWhen_theToleranceIsAMember() public {
        _seat(_accounts(4));
        address[] memory shown = new address[](3);
        (shown[0], shown[1], shown[2]) = (members[1], members[2], members[3]);
        _refuse(shown, uint256(uint160(members[0])));
    }

    function test_shareIncome_paysTheCurrentCommittee() public {
        _seat(_accounts(4));
        address[] memory first = members;
        vm.deal(address(dataset), 4 ether);
        members = _accounts(2);
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
        _refuse(first, TOLERANCE_BPS);
        _share();
        assertEq(members[0].balance, 2 ether);
    }

    // ---------------------------------------------------------------- accounts that refuse payment

    function test_shareIncome_isNotBlockedByOneThatReverts() public {
        _assertRefusedBy(address(new Refuser()));
    }

    function test_shareIncome_isNotBlockedByOneThatBurnsItsGas() public {
        _assertRefusedBy(address(new Burner()));
    }

    function test_shareIncome_isNotBlockedByALongReason() public {
        _assertRefusedBy(address(new LongReason()));
    }

    function test_shareIncome_isNotBlockedByALongAnswer() public {
        uint256 used = _shareWith(address(new LongAnswer()));
        assertEq(address(dataset).balance, 0);
        assertLt(used, 4 * MIN_GAS_PER_SHARE);
    }

    /// The dataset accepts no plain Ether, not even its own.
    function test_shareIncome_isNotBlockedByItself() public {
        _seat(_accounts(3));
        _replaceFirst(address(dataset));
        vm.deal(address(dataset), 3 ether);
        vm.expectEmit(address(dataset));
        emit IDataset.ShareRefused(address(dataset), 1 ether);
        _share();
        assertEq(address(dataset).balance, 1 ether);
    }

    /// Bounds the gas that all members together can make the call use.
    function test_shareIncome_costsAtMostItsSharesWhenAllBurn() public {
        _seat(_accounts(13));
        for (uint256 i = 0; i < 13; ++i) {
            vm.etch(members[i], type(Burner).runtimeCode);
        }
        vm.deal(address(dataset), 13 ether);
        uint256 before = gasleft();
        _share();
        assertLt(before - gasleft(), 13 * MIN_GAS_PER_SHARE);
        assertEq(address(dataset).balance, 13 ether);
    }

    // ---------------------------------------------------------------- accounts that call back

    function test_shareIncome_RevertWhen_reentered() public {
        _seat(_accounts(4));
        Caller caller = new Caller();
        _replaceFirst(address(caller));
        caller.plan(address(dataset), 0, abi.encodeCall(IDataset.shareIncome, (members, TOLERANCE_BPS)));
        vm.deal(address(dataset), 4 ether);
        _share();
        assertFalse(caller.isDone());
        assertEq(
            caller.reason(), abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)
        );
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
        // The reentrancy guard is released again.
        _share();
    }

    function test_shareIncome_keepsAQueryPaidMeanwhile() public {
        _seat(_accounts(4));
        Caller caller = new Caller();
        _replaceFirst(address(caller));
        caller.plan(address(dataset), PRICE, abi.encodeCall(dataset.query, (KEY)));
        vm.deal(address(dataset), 4 ether);
        vm.expectEmit(address(dataset));
        emit IDataset.IncomeShared(1 ether, 4 ether);
        _share();
        assertTrue(caller.isDone());
        assertEq(address(caller).balance, 1 ether - PRICE);
        assertEq(address(dataset).balance, PRICE);
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
        _refuse(members, TOLERANCE_BPS);
    }

    /// A member becomes the owner during the call: ownership moves, and the income is shared as planned.
    function test_shareIncome_isNotDisturbedByANewOwner() public {
        _seat(_accounts(4));
        Caller caller = new Caller();
        _replaceFirst(address(caller));
        vm.prank(OWNER);
        Ownable2Step(address(dataset)).transferOwnership(address(caller));
        caller.plan(address(dataset), 0, abi.encodeCall(Ownable2Step.acceptOwnership, ()));
        vm.deal(address(dataset), 4 ether);
        vm.expectEmit(address(dataset));
        emit IDataset.IncomeShared(1 ether, 4 ether);
        _share();
        assertTrue(caller.isDone());
        assertEq(Ownable2Step(address(dataset)).owner(), address(caller));
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
    }

    // ---------------------------------------------------------------- too little gas

    /// A caller cannot starve a member: with any gas limit, each member gets its 50,000 gas or the call reverts.
    function testFuzz_shareIncome_givesEachItsGasOrReverts(uint256 gas_) public {
        _seat(_accounts(4));
        for (uint256 i = 0; i < 4; ++i) {
            // The first two accounts do not exist yet: creating them costs more, and they need no gas. With the rest,
            // the last two could be starved.
            if (i >= 2) vm.etch(members[i], type(Hungry).runtimeCode);
            vm.cool(members[i]);
        }
        vm.deal(address(dataset), 4 ether);
        vm.cool(address(dataset));
        (bool done, bytes memory reason) = _shareWithGas(bound(gas_, 21_000, 400_000));
        if (done) {
            assertEq(address(dataset).balance, 0);
        } else {
            assertEq(address(dataset).balance, 4 ether);
            _assertTooLittleGas(reason);
        }
    }

    function test_shareIncome_RevertWhen_tooLittleGasIsLeft() public {
        _seat(_accounts(4));
        vm.deal(address(dataset), 4 ether);
        (bool done, bytes memory reason) = _shareWithGas(MIN_GAS_PER_SHARE);
        assertFalse(done);
        assertGt(reason.length, 0);
        _assertTooLittleGas(reason);
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

    function test_shareIncome_rejectsEther() public {
        _seat(_accounts(4));
        (bool done,) = address(dataset).call{value: 1}(abi.encodeCall(IDataset.shareIncome, (members, TOLERANCE_BPS)));
        assertFalse(done);
    }

    // ---------------------------------------------------------------- helpers

    /// @dev Returns accounts without a known key, ascending, above every contract's address.
    function _accounts(uint256 count) private pure returns (address[] memory accounts) {
        accounts = new address[](count);
        for (uint160 i = 0; i < count; ++i) {
            accounts[i] = address(type(uint160).max - 300 + i);
        }
    }

    function _seat(address[] memory accounts) private {
        members = accounts;
        DatasetSettings memory settings_ = settings(providers);
        settings_.members = accounts;
        dataset = deploy(settings_);
    }

    /// @dev All other members are paid after it.
    function _replaceFirst(address account) private {
        members[0] = account;
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
    }

    function _share() private {
        dataset.shareIncome(members, TOLERANCE_BPS);
    }

    function _shareWith(address account) private returns (uint256 used) {
        _seat(_accounts(4));
        _replaceFirst(account);
        vm.deal(address(dataset), 4 ether);
        used = gasleft();
        _share();
        used -= gasleft();
        for (uint256 i = 1; i < 4; ++i) {
            assertEq(members[i].balance, 1 ether);
        }
    }

    function _assertRefusedBy(address account) private {
        uint256 used = _shareWith(account);
        assertEq(account.balance, 0);
        assertEq(address(dataset).balance, 1 ether);
        assertLt(used, 4 * MIN_GAS_PER_SHARE);
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
        assertEq(needed, MIN_GAS_PER_SHARE);
        assertLt(left, needed);
    }

    function _arguments(bytes memory reason) private pure returns (bytes memory arguments) {
        arguments = new bytes(reason.length - 4);
        for (uint256 i = 0; i < arguments.length; ++i) {
            arguments[i] = reason[i + 4];
        }
    }

    function _refuse(address[] memory shown, uint256 toleranceBps) private {
        vm.deal(address(dataset), 4 ether);
        bytes32 hash = keccak256(abi.encodePacked(toleranceBps, shown));
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongCommittee.selector, hash, dataset.committeeHash()));
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
            revert(0, 130000)
        }
    }
}

contract LongAnswer {
    receive() external payable {
        assembly {
            return(0, 130000)
        }
    }
}

/// @dev Accepts its share only with all of the promised gas; a call with Ether adds a stipend of 2,300.
contract Hungry {
    receive() external payable {
        require(gasleft() > 52_000);
    }
}

/// @dev Accepts its share and makes one call while it does.
contract Caller {
    bool public isDone;
    bytes public reason;

    address private _target;
    uint256 private _value;
    bytes private _data;

    receive() external payable {
        if (isDone || reason.length > 0) return;
        (bool done, bytes memory answer) = _target.call{value: _value}(_data);
        isDone = done;
        if (!done) reason = answer;
    }

    function plan(address target, uint256 value, bytes calldata data) external {
        (_target, _value, _data) = (target, value, data);
    }
}
