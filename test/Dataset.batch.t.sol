// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Batch, BatchLibrary, Report, Update} from "./utils/UpdateArguments.sol";
import {ReferenceReports} from "./utils/ReferenceReports.sol";

/// @notice What batches have that updates of one key have not. Committee and signers are checked by the same code as an
/// update's; the outcomes of keys are tested in test/differential/BatchEqualsSingleUpdates.t.sol.
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

    /// The relayer needs no permission and gets none.
    function testFuzz_updateBatch_storesEveryKeyForAnyone(address relayer) public {
        vm.assume(relayer != address(vm));
        Batch memory batch = _valid();
        for (uint256 i = 0; i < keys.length; ++i) {
            vm.expectEmit(address(dataset));
            emit IDataset.Updated(keccak256(keys[i]), _picked(batch, i), START, Oracle.QueryStatus.OK);
        }
        vm.prank(relayer);
        batch.send(dataset);
        for (uint256 i = 0; i < keys.length; ++i) {
            assertAnswer(dataset, keys[i], _picked(batch, i), START, Oracle.QueryStatus.OK);
        }
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

    function test_updateBatch_leavesAKeyThatIsUnknown() public {
        keys[1] = "SPOTPX/DOGE-USD";
        IDataset.KeyOutcome[] memory outcomes = _valid().send(dataset);
        assertEq(uint8(outcomes[0]), uint8(IDataset.KeyOutcome.STORED));
        assertEq(uint8(outcomes[1]), uint8(IDataset.KeyOutcome.UNKNOWN_KEY));
        // It is still unknown.
        vm.expectEmit(address(dataset));
        emit IDataset.KeyAdded(keccak256(keys[1]), keys[1]);
        dataset.announce(keys[1]);
    }

    // ---------------------------------------------------------------- lengths and signers

    function test_updateBatch_RevertWhen_thereAre257Keys() public {
        _manyKeys(257);
        _refuse(_valid(), abi.encodeWithSelector(IDataset.TooManyKeys.selector, 257, 256));
    }

    /// A pick too many, or too few, moves everything behind it: another byte is read as the bitmap of the signers.
    function test_updateBatch_RevertWhen_thePicksAreNotAsManyAsTheKeys() public {
        Batch memory batch = _valid();
        batch.picks = hex"00000000";
        _refuse(batch, abi.encodeWithSelector(IDataset.NoQuorum.selector, 0, 4));
        batch = _valid();
        batch.picks = hex"0000";
        // The first row's values have 9 bytes.
        _refuse(batch, abi.encodeWithSelector(IDataset.NoQuorum.selector, 2, 2));
    }

    /// The pick of a key is not signed. It can only be wrong, which leaves the key.
    function testFuzz_updateBatch_leavesAKeyWhosePickIsOutOfRange(uint256 pick, uint256 key) public {
        Batch memory batch = _valid();
        // forge-lint: disable-next-line(unsafe-typecast)
        batch.picks[key %= 3] = bytes1(uint8(bound(pick, 3, 255)));
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        for (uint256 i = 0; i < 3; ++i) {
            IDataset.KeyOutcome expected = i == key ? IDataset.KeyOutcome.WRONG_CLAIM : IDataset.KeyOutcome.STORED;
            assertEq(uint8(outcomes[i]), uint8(expected));
        }
        assertAnswer(dataset, keys[key], 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    /// Behind the last key's hash stand 32 picks that are the hash of a known key. Behind the picks stands the bitmap of
    /// the signers, whose first byte would be a valid pick, and behind a row's values the zero that begins the next row.
    function test_updateBatch_storesNoKeyAfterTheLast() public {
        providers = new Providers(16, TOLERANCE_BPS);
        dataset = deploy(providers);
        _manyKeys(32);
        dataset.announce(KEY);
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(11);
        Batch memory batch = providers.reportManyFrom(0x07ff, dataset, keys, START, rows, missing);
        batch.picks = abi.encodePacked(keccak256(KEY));
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(outcomes.length, 32);
        assertAnswer(dataset, KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    /// The header announces fewer keys than follow, or more.
    function testFuzz_updateBatch_RevertWhen_theNumberOfKeysIsAnother(uint16 count) public {
        vm.assume(count != 3);
        bytes memory packed = _valid().pack();
        (packed[9], packed[10]) = (bytes2(count)[0], bytes2(count)[1]);
        assertFalse(succeeds(abi.encodeCall(IDataset.updateBatch, (packed))));
        if (count > 256) {
            vm.expectRevert(abi.encodeWithSelector(IDataset.TooManyKeys.selector, count, 256));
            dataset.updateBatch(packed);
        }
    }

    function testFuzz_updateBatch_RevertWhen_aRowsBitLiesBeyondTheKeys(uint256 place, uint256 bit) public {
        Batch memory batch = _valid();
        batch.rows[place % 3].content = bytes32(2 ** bound(bit, 3, 7));
        _refuse(batch, abi.encodeWithSelector(IDataset.UnusedBits.selector, batch.rows[place % 3].content, 3));
    }

    function testFuzz_updateBatch_RevertWhen_aSignersBitLiesBeyondTheCommittee(uint256 bit) public {
        Batch memory batch = _valid();
        batch.signers |= 2 ** bound(bit, 4, 7);
        _refuse(batch, abi.encodeWithSelector(IDataset.UnusedBits.selector, batch.signers, 4));
    }

    function test_updateBatch_RevertWhen_noMemberSigns() public {
        _refuse(_batch(0, START), abi.encodeWithSelector(IDataset.NoQuorum.selector, 0, 4));
    }

    function testFuzz_updateBatch_RevertWhen_aNonMemberSigns(uint256 key, uint256 place) public {
        Batch memory batch = _valid();
        key = boundPrivateKey(key);
        vm.assume(key != providers.privateKey(place %= 3));
        (batch.rows[place].r, batch.rows[place].vs) =
            vm.signCompact(key, ReferenceReports.batchDigest(address(dataset), batch, place));
        _refuse(batch, wrongCommittee(batch));
    }

    // ---------------------------------------------------------------- signed content

    /// Another value, another key, other bits of what a row has no data for, or another round.
    function testFuzz_updateBatch_RevertWhen_somethingElseWasSigned(uint256 place, bytes32 word, uint256 timestamp)
        public
    {
        Batch memory batch = _valid();
        vm.assume(word != 0 && word != batch.values[place % 9] && word != batch.keyHashes[place % 3]);
        batch.values[place % 9] = word;
        _refuse(batch, wrongCommittee(batch));
        batch = _valid();
        batch.keyHashes[place % 3] = word;
        _refuse(batch, wrongCommittee(batch));
        batch = _valid();
        batch.rows[place % 3].content = bytes32(1 + uint256(word) % 7);
        _refuse(batch, wrongCommittee(batch));
        batch = _valid();
        batch.timestamp = bound(timestamp, START - MAX_ROUND_AGE, START - 1);
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
        // Reports of "no data" have the value 0.
        for (uint256 i = 0; i < 3; ++i) {
            update.reports[i].content = 0;
        }
        assertNoDataReverts(update, wrongCommittee(update, Oracle.QueryStatus.NOT_AVAILABLE));
    }

    // ---------------------------------------------------------------- rounds

    function testFuzz_updateBatch_RevertWhen_theRoundLiesAfterTheBlock(uint256 timestamp) public {
        timestamp = bound(timestamp, START + 1, type(uint40).max);
        _refuse(_batch(3, timestamp), abi.encodeWithSelector(IDataset.FutureRound.selector, timestamp, START));
    }

    function testFuzz_updateBatch_RevertWhen_theRoundIsTooOld(uint256 age) public {
        age = bound(age, MAX_ROUND_AGE + 1, START);
        _refuse(_batch(3, START - age), abi.encodeWithSelector(IDataset.ExpiredRound.selector, age, MAX_ROUND_AGE));
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
        batch.send(dataset);
        for (uint256 i = 0; i < keys.length; ++i) {
            assertEq(answerHash(keys[i]), before[i], "a refused batch left a trace");
        }
    }

    function _picked(Batch memory batch, uint256 index) private pure returns (bytes32) {
        return batch.values[uint8(batch.picks[index]) * batch.keyHashes.length + index];
    }
}
