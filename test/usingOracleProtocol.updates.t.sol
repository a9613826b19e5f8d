// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle, OracleProtocol} from "../src/usingOracleProtocol.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {UpdateCalldata} from "../src/libraries/UpdateCalldata.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {UpdateHelpersConsumer} from "./utils/UpdateHelpersConsumer.sol";
import {Batch, Update} from "./utils/UpdateArguments.sol";

/// @notice Tests the helpers that take an update, against a dataset as it is deployed. Each test covers the three
/// helpers of one kind.
contract UsingOracleProtocolUpdatesTest is DatasetFixture {
    UpdateHelpersConsumer private consumer;

    function setUp() public override {
        super.setUp();
        consumer = new UpdateHelpersConsumer{value: 1 ether}();
    }

    // ---------------------------------------------------------------- an update and a query in one call

    function test_updateAndQuery_storesTheUpdateAndPaysForOneQuery() public {
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.warp(START + helper);
            Update memory update = providers.report(dataset, KEY, START + helper, valuesNear3000(3, helper));
            assertEq(consumer.updateAndQuery(helper, dataset, update.pack(), 0), uint256(update.value));
            assertEq(address(consumer).balance, 1 ether - (helper + 1) * PRICE);
            assertAnswer(dataset, KEY, update.value, START + helper, Oracle.QueryStatus.OK);
        }
    }

    function test_updateAndQuery_readsWhatIsStoredWhenAnotherSenderWasFaster() public {
        Update memory stored = validUpdate();
        stored.send(dataset);
        bytes memory older = providers.report(dataset, KEY, START - 1, valuesNear3000(3, 2)).pack();
        for (uint256 helper = 0; helper < 3; ++helper) {
            assertEq(consumer.updateAndQuery(helper, dataset, stored.pack(), 0), uint256(stored.value));
            assertEq(consumer.updateAndQuery(helper, dataset, older, 0), uint256(stored.value));
        }
    }

    /// Without an update, a helper only queries.
    function test_updateAndQuery_treatsTheFutureAsFresh() public {
        Update memory stored = validUpdate();
        stored.send(dataset);
        vm.warp(START - 1);
        for (uint256 helper = 0; helper < 3; ++helper) {
            assertEq(consumer.updateAndQuery(helper, dataset, "", 0), uint256(stored.value));
        }
    }

    function test_updateAndQuery_takesABatch() public {
        bytes[] memory keys = new bytes[](1);
        keys[0] = KEY;
        dataset.announce(KEY);
        bytes32[][] memory rows = new bytes32[][](3);
        for (uint256 row = 0; row < 3; ++row) {
            rows[row] = new bytes32[](1);
            rows[row][0] = bytes32(uint256(3000e18));
        }
        Batch memory batch = providers.reportMany(dataset, keys, START, rows, new uint256[](3));
        assertEq(consumer.updateAndQuery(1, dataset, batch.pack(), 0), 3000e18);
    }

    /// A bad update never blocks a read that the stored value satisfies.
    function testFuzz_updateAndQuery_readsWhatIsStoredWhateverTheUpdateIs(uint256 place, bytes1 byte_, uint256 length)
        public
    {
        Update memory stored = validUpdate();
        stored.send(dataset);
        vm.warp(START + 10);
        bytes memory update = providers.report(dataset, KEY, START + 10, valuesNear3000(3, 2)).pack();
        // The first byte says which function is called.
        update[bound(place, 1, update.length - 1)] ^= byte_ == 0 ? bytes1(0x01) : byte_;
        length = bound(length, 1, update.length);
        assembly ("memory-safe") {
            mstore(update, length)
        }
        uint256 value = consumer.updateAndQuery(place % 3, dataset, update, 10);
        (bytes32 output,,) = query(dataset, KEY);
        assertEq(value, uint256(output));
    }

    function test_updateAndQuery_RevertWhen_theUpdateIsRefusedAndTheStoredValueIsTooOld() public {
        validUpdate().send(dataset);
        vm.warp(START + 11);
        Update memory update = providers.report(dataset, KEY, START + 12, valuesNear3000(3, 2));
        bytes memory reason = abi.encodeWithSelector(IDataset.FutureRound.selector, START + 12, START + 11);
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(abi.encodeWithSelector(OracleProtocol.UpdateRefused.selector, reason));
            consumer.updateAndQuery(helper, dataset, update.pack(), 10);
            consumer.updateAndQuery(helper, dataset, update.pack(), 11);
        }
    }

    /// Only the dataset's own update functions can be reached.
    function testFuzz_updateAndQuery_RevertWhen_itIsNoUpdate(bytes1 kind, bytes memory rest) public {
        validUpdate().send(dataset);
        vm.assume(uint8(kind) == 0 || uint8(kind) > 3);
        bytes memory reason = abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, uint8(kind));
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.updateAndQuery(helper, dataset, bytes.concat(kind, rest), 0);
        }
    }

    // ---------------------------------------------------------------- an update that is verified and not stored

    function test_verify_readsTheUpdateAndStoresNothing() public {
        Update memory update = validUpdate();
        for (uint256 helper = 0; helper < 3; ++helper) {
            assertEq(consumer.verify(helper, dataset, update.pack(), 0), uint256(update.value));
            assertEq(address(dataset).balance, (helper + 1) * PRICE);
        }
        assertAnswer(dataset, KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_verify_readsTheUpdateWhenANewerOneIsStored() public {
        Update memory older = providers.report(dataset, KEY, START - 5, valuesNear3000(3, 2));
        validUpdate().send(dataset);
        for (uint256 helper = 0; helper < 3; ++helper) {
            assertEq(consumer.verify(helper, dataset, older.pack(), 5), uint256(older.value));
        }
    }

    function testFuzz_verify_RevertWhen_tooOld(uint256 age, uint256 maxAge) public {
        age = bound(age, 1, MAX_ROUND_AGE);
        maxAge = bound(maxAge, 0, age - 1);
        bytes memory update = providers.report(dataset, KEY, START - age, valuesNear3000(3, 2)).pack();
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, age, maxAge));
            consumer.verify(helper, dataset, update, maxAge);
            consumer.verify(helper, dataset, update, age);
        }
    }

    function test_verify_RevertWhen_theKeyIsAnother() public {
        bytes memory update = providers.report(dataset, "SPOTPX/BTC-USD", START, valuesNear3000(3, 1)).pack();
        bytes memory reason = abi.encodeWithSelector(UpdateCalldata.UpdateOfAnotherKey.selector, "SPOTPX/BTC-USD", KEY);
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.verify(helper, dataset, update, 0);
        }
    }

    /// A batch updates many keys and cannot be verified; nothing is no update either.
    function testFuzz_verify_RevertWhen_itIsNoUpdateOfOneKey(bytes1 kind, bytes memory rest) public {
        vm.assume(uint8(kind) == 0 || uint8(kind) > 2);
        bytes memory reason = abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, uint8(kind));
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.verify(helper, dataset, bytes.concat(kind, rest), 0);
            vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, 0));
            consumer.verify(helper, dataset, "", 0);
        }
    }

    // ---------------------------------------------------------------- what both refuse

    function test_anyHelper_RevertWhen_theProvidersHaveNoValue() public {
        bytes memory update = validNoDataUpdate().packNotAvailable();
        _assertRevert(
            update, abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.NOT_AVAILABLE)
        );
    }

    function test_anyHelper_RevertWhen_theUpdateIsRefused() public {
        Update memory update = validUpdate();
        update.toleranceBps += 1;
        bytes memory reason = wrongCommittee(update);
        _assertRevert(update.pack(), abi.encodeWithSelector(OracleProtocol.UpdateRefused.selector, reason));
    }

    function test_anyHelper_RevertWhen_theBalanceIsTooSmall() public {
        consumer = new UpdateHelpersConsumer{value: PRICE - 1}();
        _assertRevert(
            validUpdate().pack(), abi.encodeWithSelector(OracleProtocol.InsufficientBalance.selector, PRICE - 1, PRICE)
        );
    }

    function test_anyHelper_RevertWhen_thePriceIsTooHigh() public {
        uint256 price = PRICE + 1;
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
        bytes memory update = validUpdate().pack();
        _assertRevert(update, abi.encodeWithSelector(OracleProtocol.PriceTooHigh.selector, price, PRICE));
        bytes memory reason = abi.encodeWithSelector(OracleProtocol.PriceTooHigh.selector, price, 7);
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.updateAndQuery(helper, dataset, update, 0, 7);
            vm.expectRevert(reason);
            consumer.verify(helper, dataset, update, 0, 7);
            consumer.updateAndQuery(helper, dataset, update, 0, price);
            consumer.verify(helper, dataset, update, 0, price);
        }
        assertEq(address(dataset).balance, 6 * price);
    }

    function _assertRevert(bytes memory update, bytes memory reason) private {
        for (uint256 helper = 0; helper < 3; ++helper) {
            vm.expectRevert(reason);
            consumer.updateAndQuery(helper, dataset, update, 0);
            vm.expectRevert(reason);
            consumer.verify(helper, dataset, update, 0);
        }
    }
}
