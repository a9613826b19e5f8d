// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {Providers} from "../utils/Providers.sol";
import {GasFixture} from "./GasFixture.sol";

/// @notice Measures batches whose sender is repaid, in steady state. In isolated transactions forge sets the base fee
/// to 0, so these are plain calls: the accounts are warm, as a transaction's sender and target are, and the storage is
/// cold.
/// forge-config: default.isolate = false
contract RepaymentGasTest is GasFixture {
    address private constant SENDER = address(0x5e2d);
    uint256 private constant FEE = 2 gwei;

    Providers private committee;
    IDataset private ten;
    IDataset private hundred;

    /// @dev State that is written here counts as written before the transaction.
    function setUp() public override {
        super.setUp();
        vm.deal(SENDER, 1 ether);
        committee = new Providers(5, TOLERANCE_BPS);
        (ten, hundred) = (_prepare(10), _prepare(100));
        vm.warp(START + 60);
        vm.fee(FEE);
    }

    function test_updateBatch_repaid10keys4of5() public {
        assertLe(_snapshot("batch of 10, 4 of 5 signers, repaid", ten, 10), 157_000);
    }

    function test_updateBatch_repaid100keys4of5() public {
        assertLe(_snapshot("batch of 100, 4 of 5 signers, repaid", hundred, 100), 100 * 10_740);
    }

    function _prepare(uint256 count) private returns (IDataset target) {
        DatasetSettings memory settings_ = settings(committee);
        (settings_.repaymentInterval, settings_.repaymentFeeCap) = (58, FEE);
        target = deploy(settings_);
        vm.deal(address(target), 1 ether);
        // This sets something aside.
        target.shareIncome(committee.members(), TOLERANCE_BPS);
        vm.deal(address(target), 1 ether);
        target.updateBatch(batchOf(committee, target, announced(target, count), START, 4));
    }

    function _snapshot(string memory name, IDataset target, uint256 count) private returns (uint256 used) {
        // Only slots that were read are recorded: these calls read those of the keys and of the committee.
        bytes[] memory keys = announced(target, count);
        target.queryPrice();
        bytes memory data = abi.encodeCall(IDataset.updateBatch, (batchOf(committee, target, keys, START + 58, 4)));
        record(name, address(target), data, FEE);
        vm.cool(address(target));
        uint256 income = address(target).balance;
        uint256 before = SENDER.balance;
        vm.prank(SENDER);
        bool isDone;
        // Plain Solidity would copy the data once more.
        assembly ("memory-safe") {
            used := gas()
            isDone := call(gas(), target, 0, add(data, 0x20), mload(data), 0, 0)
            used := sub(used, gas())
        }
        assertTrue(isDone);
        assertEq(SENDER.balance - before, count * 8_000 * FEE);
        assertEq(income - address(target).balance, count * 8_000 * FEE);
        // Less the call instruction and its arguments, plus the transaction and its calldata:
        // devnet/test/receipts-match-gas-snapshots.test.ts compares the result with a receipt.
        used = used - 138 + 21_000;
        for (uint256 i = 0; i < data.length; ++i) {
            used += data[i] == 0 ? 4 : 16;
        }
        vm.snapshotValue("batch", name, used);
    }
}
