// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {Batch, IDataset, Report} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {BatchLibrary, Update} from "./utils/UpdateArguments.sol";
import {ReferenceReports} from "./utils/ReferenceReports.sol";

/// @notice A valid batch passes; change one thing in it, and it reverts with one error. The outcomes of its keys are
/// tested in test/differential/BatchEqualsSingleUpdates.t.sol.
contract DatasetBatchTest is DatasetFixture {
    using BatchLibrary for Batch;

    bytes[] private keys = [bytes("SPOTPX/ETH-USD"), "SPOTPX/BTC-USD", "SPOTPX/BTC-EUR"];

    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < keys.length; ++i) {
            dataset.announce(keys[i]);
        }
    }

    // ---------------------------------------------------------------- valid updates

    function test_updateBatch_storesEveryKey() public {
        Batch memory batch = _valid();
        for (uint256 i = 0; i < keys.length; ++i) {
            vm.expectEmit(address(dataset));
            emit IDataset.Updated(keccak256(keys[i]), _picked(batch, i), START, Oracle.QueryStatus.OK);
        }
        _assertOutcomes(batch.send(dataset), IDataset.KeyOutcome.STORED);
        for (uint256 i = 0; i < keys.length; ++i) {
            assertAnswer(dataset, keys[i], _picked(batch, i), START, Oracle.QueryStatus.OK);
        }
    }

    /// The relayer needs no permission and gets none.
    function testFuzz_updateBatch_mayBeSubmittedByAnyone(address relayer) public {
        vm.assume(relayer != address(vm));
        Batch memory batch = _valid();
        vm.prank(relayer);
        _assertOutcomes(batch.send(dataset), IDataset.KeyOutcome.STORED);
    }

    function test_updateBatch_acceptsACommitteeOf255() public {
        _committee(255);
        _refuse(_batch(170, START), abi.encodeWithSelector(IDataset.NoQuorum.selector, 170, 85));
        _assertOutcomes(_batch(171, START).send(dataset), IDataset.KeyOutcome.STORED);
    }

    function test_updateBatch_acceptsNoKeys() public {
        keys = new bytes[](0);
        vm.recordLogs();
        assertEq(_valid().send(dataset).length, 0);
        assertEq(vm.getRecordedLogs().length, 0);
    }

    /// The highest bit of `missing` belongs to the 256th key.
    function test_updateBatch_has256BitsOfMissing() public {
        _manyKeys(256);
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(3);
        missing[1] = 1 << 255;
        Batch memory batch = providers.reportMany(dataset, keys, START, rows, missing);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(uint8(outcomes[254]), uint8(IDataset.KeyOutcome.STORED));
        assertEq(uint8(outcomes[255]), uint8(IDataset.KeyOutcome.NO_QUORUM));
        assertAnswer(dataset, keys[0], _picked(batch, 0), START, Oracle.QueryStatus.OK);
        assertAnswer(dataset, keys[254], _picked(batch, 254), START, Oracle.QueryStatus.OK);
    }

    // ---------------------------------------------------------------- one key, one outcome

    function test_updateBatch_leavesAKeyThatIsUnknown() public {
        keys[1] = "SPOTPX/DOGE-USD";
        _assertOutcome(_valid(), IDataset.KeyOutcome.UNKNOWN_KEY);
        // It is still unknown.
        vm.expectEmit(address(dataset));
        emit IDataset.KeyAdded(keccak256(keys[1]), keys[1]);
        dataset.announce(keys[1]);
    }

    function test_updateBatch_leavesAKeyOfAnotherForm() public {
        keys[1] = "SPOTPX/doge-usd";
        _assertOutcome(_valid(), IDataset.KeyOutcome.UNKNOWN_KEY);
        assertAnswer(dataset, keys[1], 0, 0, Oracle.QueryStatus.INVALID);
    }

    function test_updateBatch_leavesAKeyWithoutAQuorum() public {
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(3);
        missing[2] = 2;
        _assertOutcome(providers.reportMany(dataset, keys, START, rows, missing), IDataset.KeyOutcome.NO_QUORUM);
    }

    function test_updateBatch_leavesAKeyWhoseMedianIsTooLarge() public {
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(3);
        rows[0][1] = bytes32(uint256(1) << 208);
        rows[1][1] = bytes32(type(uint256).max);
        _assertOutcome(providers.reportMany(dataset, keys, START, rows, missing), IDataset.KeyOutcome.VALUE_TOO_LARGE);
    }

    function test_updateBatch_storesAKeyOnce() public {
        keys[1] = keys[0];
        Batch memory batch = _valid();
        vm.recordLogs();
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(uint8(outcomes[0]), uint8(IDataset.KeyOutcome.STORED));
        assertEq(uint8(outcomes[1]), uint8(IDataset.KeyOutcome.STALE_ROUND));
        assertEq(vm.getRecordedLogs().length, 2);
        assertAnswer(dataset, keys[0], _picked(batch, 0), START, Oracle.QueryStatus.OK);
    }

    /// A quorum of values, a quorum of no data and neither of them, side by side, in every proportion.
    function test_updateBatch_neverMixesValuesAndNoData() public {
        _committee(7);
        for (uint256 none = 0; none <= 7; ++none) {
            vm.warp(START + none);
            (bytes32[][] memory rows, uint256[] memory missing) = _rows(7);
            for (uint256 row = 0; row < none; ++row) {
                missing[row] = 2;
            }
            Batch memory batch = providers.reportMany(dataset, keys, START + none, rows, missing);
            if (none > 2 && none < 5) {
                _assertOutcome(batch, IDataset.KeyOutcome.NO_QUORUM);
            } else {
                _assertOutcomes(batch.send(dataset), IDataset.KeyOutcome.STORED);
                if (none <= 2) {
                    assertAnswer(dataset, keys[1], _picked(batch, 1), START + none, Oracle.QueryStatus.OK);
                } else {
                    assertAnswer(dataset, keys[1], 0, START + none, Oracle.QueryStatus.NOT_AVAILABLE);
                }
            }
        }
    }

    /// A row's value for a key that it has no data for never counts, not even as a claim that no other row has.
    function test_updateBatch_leavesAKeyWhosePickHasNoData() public {
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(4);
        missing[3] = 2;
        rows[3][1] = bytes32(uint256(1));
        Batch memory batch = providers.reportMany(dataset, keys, START, rows, missing);
        batch.picks[1] = bytes1(uint8(3));
        _assertOutcome(batch, IDataset.KeyOutcome.WRONG_CLAIM);
    }

    // ---------------------------------------------------------------- array lengths

    function test_updateBatch_RevertWhen_thereAre257Keys() public {
        _manyKeys(257);
        _refuse(_valid(), abi.encodeWithSelector(IDataset.TooManyKeys.selector, 257, 256));
    }

    function testFuzz_updateBatch_RevertWhen_theNumberOfValuesIsWrong(uint256 count) public {
        count = bound(count, 0, 30);
        vm.assume(count != 9);
        Batch memory batch = _valid();
        batch.values = new bytes32[](count);
        _refuse(batch, abi.encodeWithSelector(IDataset.WrongValueCount.selector, count, 9));
    }

    function testFuzz_updateBatch_RevertWhen_theNumberOfPicksIsWrong(uint256 count) public {
        count = bound(count, 0, 40);
        vm.assume(count != 3);
        Batch memory batch = _valid();
        batch.picks = new bytes(count);
        _refuse(batch, abi.encodeWithSelector(IDataset.WrongPickCount.selector, count, 3));
    }

    // ---------------------------------------------------------------- quorum and signers

    function test_updateBatch_RevertWhen_exactlyTwoThirdsSign() public {
        uint256[3] memory sizes = [uint256(3), 6, 9];
        for (uint256 i = 0; i < sizes.length; ++i) {
            _committee(sizes[i]);
            uint256 signers = sizes[i] / 3 * 2;
            _refuse(
                _batch(signers, START), abi.encodeWithSelector(IDataset.NoQuorum.selector, signers, sizes[i] - signers)
            );
        }
    }

    function test_updateBatch_RevertWhen_noMemberSigns() public {
        _refuse(_batch(0, START), abi.encodeWithSelector(IDataset.NoQuorum.selector, 0, 4));
    }

    function testFuzz_updateBatch_RevertWhen_theBitsDoNotMatchTheRows(uint256 signers) public {
        Batch memory batch = _valid();
        batch.signers = signers;
        uint256 count = 0;
        for (uint256 i = 0; i < 4; ++i) {
            count += (signers >> i) & 1;
        }
        vm.assume(count != 3 || signers > 15);
        _refuse(batch, abi.encodeWithSelector(IDataset.WrongSigners.selector, signers, 3, 1));
    }

    function test_updateBatch_RevertWhen_theBitsAreOfOtherMembers() public {
        Batch memory batch = _valid();
        batch.signers = 14;
        _refuse(batch, wrongCommittee(batch));
    }

    function testFuzz_updateBatch_RevertWhen_aNonMemberSigns(uint256 key, uint256 place) public {
        Batch memory batch = _valid();
        key = boundPrivateKey(key);
        vm.assume(key != providers.privateKey(place %= 3));
        (batch.rows[place].r, batch.rows[place].vs) =
            vm.signCompact(key, ReferenceReports.batchDigest(address(dataset), batch, place));
        _refuse(batch, wrongCommittee(batch));
    }

    /// The same row twice, with its signature.
    function test_updateBatch_RevertWhen_aRowIsRepeated() public {
        Batch memory batch = _valid();
        batch.rows[1] = batch.rows[0];
        for (uint256 i = 0; i < 3; ++i) {
            batch.values[3 + i] = batch.values[i];
        }
        _refuse(batch, wrongCommittee(batch));
    }

    function test_updateBatch_RevertWhen_aMemberSignsTwoRows() public {
        Batch memory batch = _valid();
        batch.rows[1] = providers.signRow(dataset, keys, 0, batch.valuesOf(1), START, 0);
        _refuse(batch, wrongCommittee(batch));
    }

    function test_updateBatch_RevertWhen_rowsArePermuted() public {
        Batch memory batch = _valid();
        (batch.rows[0], batch.rows[1]) = (batch.rows[1], batch.rows[0]);
        _refuse(batch, wrongCommittee(batch));
        // Their values move with them.
        for (uint256 i = 0; i < 3; ++i) {
            (batch.values[i], batch.values[3 + i]) = (batch.values[3 + i], batch.values[i]);
        }
        batch.picks = hex"000000";
        _refuse(batch, wrongCommittee(batch));
    }

    function test_updateBatch_RevertWhen_aWrongMemberIsAbsent() public {
        Batch memory batch = _valid();
        batch.absentees[0] = makeAddr("stranger");
        _refuse(batch, wrongCommittee(batch));
        batch.absentees[0] = providers.members()[0];
        _refuse(batch, wrongCommittee(batch));
        batch.absentees[0] = address(0);
        _refuse(batch, wrongCommittee(batch));
        batch.absentees = new address[](0);
        _refuse(batch, wrongCommittee(batch));
    }

    function testFuzz_updateBatch_RevertWhen_theToleranceDiffers(uint256 toleranceBps) public {
        vm.assume(toleranceBps != TOLERANCE_BPS);
        Batch memory batch = _valid();
        batch.toleranceBps = toleranceBps;
        _refuse(batch, wrongCommittee(batch));
    }

    function test_updateBatch_RevertWhen_theCommitteeChanged() public {
        Batch memory batch = _valid();
        Providers next = new Providers(5, TOLERANCE_BPS);
        address[] memory members = next.members();
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
        _refuse(batch, wrongCommittee(batch));
        providers = next;
        _assertOutcomes(_batch(4, START).send(dataset), IDataset.KeyOutcome.STORED);
    }

    // ---------------------------------------------------------------- signed content

    function testFuzz_updateBatch_RevertWhen_aValueDiffers(uint256 place, bytes32 value) public {
        Batch memory batch = _valid();
        vm.assume(batch.values[place %= 9] != value);
        batch.values[place] = value;
        _refuse(batch, wrongCommittee(batch));
    }

    /// Also covers bits that belong to no key.
    function testFuzz_updateBatch_RevertWhen_missingDiffers(uint256 place, uint256 missing) public {
        vm.assume(missing != 0);
        Batch memory batch = _valid();
        batch.rows[place % 3].content = bytes32(missing);
        _refuse(batch, wrongCommittee(batch));
    }

    function testFuzz_updateBatch_RevertWhen_aKeyDiffers(uint256 place, bytes32 keyHash) public {
        Batch memory batch = _valid();
        vm.assume(batch.keyHashes[place %= 3] != keyHash);
        batch.keyHashes[place] = keyHash;
        _refuse(batch, wrongCommittee(batch));
    }

    function testFuzz_updateBatch_RevertWhen_theRoundDiffers(uint256 timestamp) public {
        Batch memory batch = _valid();
        batch.timestamp = bound(timestamp, START - MAX_ROUND_AGE, START - 1);
        _refuse(batch, wrongCommittee(batch));
    }

    function testFuzz_updateBatch_RevertWhen_signedForAnotherChain(uint64 chainId) public {
        vm.assume(chainId != 0 && chainId != block.chainid);
        Batch memory batch = _valid();
        vm.chainId(chainId);
        _refuse(batch, wrongCommittee(batch));
        _assertOutcomes(_valid().send(dataset), IDataset.KeyOutcome.STORED);
    }

    function test_updateBatch_RevertWhen_signedForAnotherDataset() public {
        IDataset other = deploy(providers);
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(3);
        Batch memory batch = providers.reportMany(other, keys, START, rows, missing);
        _refuse(batch, wrongCommittee(batch));
    }

    /// A row with one key and a report of that key are different EIP-712 types.
    function test_updateBatch_RevertWhen_theSignaturesAreOfReports() public {
        keys = [keys[0]];
        Update memory update = validUpdate();
        Batch memory batch = _valid();
        for (uint256 i = 0; i < 3; ++i) {
            batch.values[i] = update.reports[i].content;
            (batch.rows[i].r, batch.rows[i].vs) = (update.reports[i].r, update.reports[i].vs);
        }
        _refuse(batch, wrongCommittee(batch));
    }

    function test_update_RevertWhen_theSignaturesAreOfRows() public {
        keys = [keys[0]];
        Batch memory batch = _valid();
        Update memory update = validUpdate();
        for (uint256 i = 0; i < 3; ++i) {
            update.reports[i] = Report({content: batch.values[i], r: batch.rows[i].r, vs: batch.rows[i].vs});
        }
        assertReverts(update, wrongCommittee(update));
        assertNoDataReverts(update, wrongCommittee(update, Oracle.QueryStatus.NOT_AVAILABLE));
    }

    // ---------------------------------------------------------------- rounds

    function testFuzz_updateBatch_RevertWhen_theRoundLiesAfterTheBlock(uint256 timestamp) public {
        timestamp = bound(timestamp, START + 1, type(uint256).max);
        _refuse(_batch(3, timestamp), abi.encodeWithSelector(IDataset.FutureRound.selector, timestamp, START));
    }

    function testFuzz_updateBatch_RevertWhen_theRoundIsTooOld(uint256 age) public {
        age = bound(age, MAX_ROUND_AGE + 1, START);
        _refuse(_batch(3, START - age), abi.encodeWithSelector(IDataset.ExpiredRound.selector, age, MAX_ROUND_AGE));
    }

    function test_updateBatch_storesNothingWhenReplayed() public {
        Batch memory batch = _valid();
        dataset.updateBatch(batch);
        vm.recordLogs();
        _assertOutcomes(batch.send(dataset), IDataset.KeyOutcome.STALE_ROUND);
        assertEq(vm.getRecordedLogs().length, 0);
    }

    // ---------------------------------------------------------------- claims

    /// One wrong claim costs only its own key.
    function test_updateBatch_leavesAKeyWhosePickIsWrong() public {
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(3);
        (rows[0][1], rows[1][1], rows[2][1]) = (bytes32(uint256(998)), bytes32(uint256(999)), bytes32(uint256(1000)));
        Batch memory batch = providers.reportMany(dataset, keys, START, rows, missing);
        uint256 state = vm.snapshotState();
        batch.picks[1] = bytes1(uint8(2));
        _assertOutcome(batch, IDataset.KeyOutcome.WRONG_CLAIM);
        vm.revertToState(state);
        batch.picks[1] = bytes1(uint8(0));
        _assertOutcome(batch, IDataset.KeyOutcome.WRONG_CLAIM);
        // The right pick, in the same round, still stores the key.
        batch.picks[1] = bytes1(uint8(1));
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(uint8(outcomes[1]), uint8(IDataset.KeyOutcome.STORED));
        assertAnswer(dataset, keys[1], bytes32(uint256(999)), START, Oracle.QueryStatus.OK);
    }

    /// A pick beyond the rows points to other words of calldata: a claim that no member signed never passes.
    function testFuzz_updateBatch_storesNothingElseWhenAPickIsOutOfRange(uint8 pick, uint256 place) public {
        Batch memory batch = _valid();
        bytes32[3] memory medians = [_picked(batch, 0), _picked(batch, 1), _picked(batch, 2)];
        batch.picks[place %= 3] = bytes1(pick);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        for (uint256 i = 0; i < 3; ++i) {
            bool isStored = outcomes[i] == IDataset.KeyOutcome.STORED;
            assertTrue(isStored || i == place);
            Oracle.QueryStatus status = isStored ? Oracle.QueryStatus.OK : Oracle.QueryStatus.NOT_AVAILABLE;
            assertAnswer(dataset, keys[i], isStored ? medians[i] : bytes32(0), isStored ? START : 0, status);
        }
    }

    // ---------------------------------------------------------------- calldata

    function testFuzz_updateBatch_RevertWhen_theCalldataIsTruncated(uint256 length) public {
        bytes memory data = abi.encodeCall(IDataset.updateBatch, (_valid()));
        length = bound(length, 0, data.length - 1);
        assembly ("memory-safe") {
            mstore(data, length)
        }
        (bool done,) = address(dataset).call(data);
        assertFalse(done);
        _assertNothingStored();
    }

    // ---------------------------------------------------------------- helpers

    /// @notice Returns a valid batch: three of the four members report, in the round of the block.
    function _valid() private view returns (Batch memory) {
        return _batch(3, START);
    }

    function _batch(uint256 signers, uint256 timestamp) private view returns (Batch memory) {
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(signers);
        return providers.reportMany(dataset, keys, timestamp, rows, missing);
    }

    function _rows(uint256 count) private view returns (bytes32[][] memory rows, uint256[] memory missing) {
        missing = new uint256[](count);
        rows = new bytes32[][](count);
        for (uint256 row = 0; row < count; ++row) {
            rows[row] = new bytes32[](keys.length);
            for (uint256 i = 0; i < keys.length; ++i) {
                rows[row][i] = bytes32(valuesNear3000(1, i * 1000 + row)[0]);
            }
        }
    }

    function _committee(uint256 size) private {
        providers = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(providers);
        for (uint256 i = 0; i < keys.length; ++i) {
            dataset.announce(keys[i]);
        }
    }

    function _manyKeys(uint256 count) private {
        keys = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            keys[i] = abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD");
            dataset.announce(keys[i]);
        }
    }

    /// @notice Asserts that the batch reverts with exactly this error and leaves its keys unchanged.
    function _refuse(Batch memory batch, bytes memory reason) private {
        bytes32[] memory before = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            before[i] = answerHash(keys[i]);
        }
        vm.expectRevert(reason);
        dataset.updateBatch(batch);
        for (uint256 i = 0; i < keys.length; ++i) {
            assertEq(answerHash(keys[i]), before[i], "a refused batch left a trace");
        }
    }

    /// @notice Asserts that the second of three keys has this outcome and is unchanged, while the others are stored.
    function _assertOutcome(Batch memory batch, IDataset.KeyOutcome outcome) private {
        bytes32 before = answerHash(keys[1]);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(outcomes.length, 3);
        assertEq(uint8(outcomes[1]), uint8(outcome), "outcome");
        assertEq(answerHash(keys[1]), before, "not as it was");
        for (uint256 i = 0; i < 3; i += 2) {
            assertEq(uint8(outcomes[i]), uint8(IDataset.KeyOutcome.STORED), "another key");
            assertAnswer(dataset, keys[i], _picked(batch, i), batch.timestamp, Oracle.QueryStatus.OK);
        }
    }

    function _assertOutcomes(IDataset.KeyOutcome[] memory outcomes, IDataset.KeyOutcome outcome) private view {
        assertEq(outcomes.length, keys.length);
        for (uint256 i = 0; i < outcomes.length; ++i) {
            assertEq(uint8(outcomes[i]), uint8(outcome), "outcome");
        }
    }

    function _assertNothingStored() private {
        for (uint256 i = 0; i < keys.length; ++i) {
            assertAnswer(dataset, keys[i], 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
        }
    }

    function _picked(Batch memory batch, uint256 index) private pure returns (bytes32) {
        return batch.values[uint8(batch.picks[index]) * batch.keyHashes.length + index];
    }
}
