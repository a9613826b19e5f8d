// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Update} from "./utils/Providers.sol";

contract DatasetVerifyTest is DatasetFixture {
    /// No honest provider signs such a key, and nothing can be stored under it.
    function test_verify_answersAnyKeyThatAQuorumSigned() public {
        bytes memory key = "SPOTPX/eth-usd";
        Update memory update = providers.report(dataset, key, START, valuesNear3000(4, 2));
        assertVerified(update.encode(), update.value, START, Oracle.QueryStatus.OK);
        assertReverts(update, abi.encodeWithSelector(IDataset.InvalidKey.selector, key));
    }

    function test_verify_worksInAStaticCall() public {
        Update memory update = validUpdate();
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
        (bool isDone, bytes memory answer) = address(dataset).staticcall(verificationOf(update.encode()));
        assertTrue(isDone);
        assertEq(answer, abi.encode(update.value, START, Oracle.QueryStatus.OK));
    }

    // ---------------------------------------------------------------- payment

    function testFuzz_verify_RevertWhen_notPaidExactly(uint256 sent) public {
        sent = bound(sent, 0, 1 ether);
        vm.assume(sent != PRICE);
        bytes memory reason = abi.encodeWithSelector(IDataset.WrongPayment.selector, sent, PRICE);
        _refuse(validUpdate().encode(), sent, reason);
        _refuse(validNoDataUpdate().encodeNotAvailable(), sent, reason);
    }

    function test_verify_isIncomeOfTheCommittee() public {
        _send(verificationOf(validUpdate().encode()), PRICE);
        _send(verificationOf(validNoDataUpdate().encodeNotAvailable()), PRICE);
        assertEq(dataset.unsharedIncomeOf(dataset.committeeHash()), 2 * PRICE);
    }

    /// Whoever may read without a payment may also verify without one, or pay.
    function testFuzz_verify_costsASubscriberNothingOrThePrice(address reader, uint256 sent) public {
        vm.assume(reader != address(dataset) && uint160(reader) > 0xffff && reader.code.length == 0);
        (uint256 price,,) = dataset.costOfSubscription();
        dataset.subscribe{value: price}(reader, 1);
        bytes memory data = verificationOf(validUpdate().encode());
        for (uint256 i = 0; i < 2; ++i) {
            hoax(reader, PRICE);
            _send(data, i * PRICE);
        }
        sent = bound(sent, 1, 1 ether);
        vm.assume(sent != PRICE);
        hoax(reader, sent);
        (bool isDone, bytes memory reason) = address(dataset).call{value: sent}(data);
        assertFalse(isDone);
        assertEq(reason, abi.encodeWithSelector(IDataset.WrongPayment.selector, sent, PRICE));
    }

    /// No transaction has the origin zero: only an `eth_call` can.
    function test_verify_isFreeInACallWithoutASender() public {
        bytes memory data = verificationOf(validUpdate().encode());
        vm.prank(address(this), address(0));
        _send(data, 0);
        vm.prank(address(0), address(this));
        (bool isDone,) = address(dataset).call(data);
        assertFalse(isDone, "free for a transaction");
    }

    function assertVerified(bytes memory update, bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) private {
        assertEq(_send(verificationOf(update), PRICE), abi.encode(output, updatedAt, status));
    }

    function _refuse(bytes memory update, uint256 sent, bytes memory reason) private {
        (bool isDone, bytes memory answer) = address(dataset).call{value: sent}(verificationOf(update));
        assertFalse(isDone);
        assertEq(answer, reason);
    }

    function _send(bytes memory verification, uint256 sent) private returns (bytes memory answer) {
        bool isDone;
        (isDone, answer) = address(dataset).call{value: sent}(verification);
        assertTrue(isDone, vm.toString(answer));
    }
}
