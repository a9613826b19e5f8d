// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {Batch, Update} from "../utils/UpdateArguments.sol";

/// @notice A batch is equivalent to single updates. Two datasets with one committee start in the same state; one
/// receives a batch, the other the same reports key by key.
abstract contract BatchDifferential is DatasetFixture {
    uint256 private constant NOW = START + 50;

    /// @dev The outcomes of the twin's single updates.
    IDataset.KeyOutcome[] private _expected;

    IDataset private twin;
    bytes[] private names;
    bool[] private isKnown;

    function testFuzz_updateBatch_equalsTheSingleUpdates(uint256 size, uint256 keyCount, uint256 seed) public {
        size = bound(size, 1, 13);
        keyCount = bound(keyCount, 1, 8);
        vm.warp(NOW);
        providers = new Providers(size, TOLERANCE_BPS);
        (dataset, twin) = (deploy(providers), deploy(providers));
        for (uint256 i = 0; i < keyCount; ++i) {
            names.push(abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD"));
            isKnown.push(_prepare(names[i], _random(seed, "state", i) % 8));
        }

        (uint256 signers, uint256 count) = anyQuorum(size, seed);
        if (seed % 3 == 0) (signers, count) = (2 ** size - 1, size);
        bytes[] memory keys = new bytes[](keyCount);
        bool[] memory known = new bool[](keyCount);
        for (uint256 i = 0; i < keyCount; ++i) {
            uint256 random = _random(seed, "name", i);
            uint256 name = random % 8 == 0 ? (random >> 8) % keyCount : i;
            (keys[i], known[i]) = (names[name], isKnown[name]);
        }
        (bytes32[][] memory rows, uint256[] memory missing) = _rows(count, keyCount, seed);
        Batch memory batch = providers.reportManyFrom(signers, dataset, keys, START, rows, missing);
        _bend(batch, seed);

        bytes32[] memory before = _readAll(keys);
        Vm.Log[] memory twinLogs = _sendSingles(batch, keys, known);
        _sendBatch(batch, keys, before, twinLogs);
    }

    // ---------------------------------------------------------------- rules of each kind of dataset

    /// @notice Returns the number of storage slots that storing this value writes.
    function _slotsOf(bytes32 value) internal pure virtual returns (uint256);

    /// @notice Returns the error of a wrong claim.
    function _wrongClaim() internal pure virtual returns (bytes4);

    // ---------------------------------------------------------------- batch and single updates

    function _sendBatch(Batch memory batch, bytes[] memory keys, bytes32[] memory before, Vm.Log[] memory twinLogs)
        private
    {
        vm.recordLogs();
        vm.record();
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        Vm.Log[] memory logs = vm.getRecordedLogs();

        assertEq(outcomes.length, keys.length, "outcomes");
        (uint256 stored, uint256 slots) = (0, 0);
        for (uint256 i = 0; i < keys.length; ++i) {
            assertEq(uint8(outcomes[i]), uint8(_expected[i]), "outcome");
            if (outcomes[i] == IDataset.KeyOutcome.STORED) {
                (bytes32 output,,) = query(twin, keys[i]);
                slots += _slotsOf(output);
                ++stored;
            }
            if (!_isStored(batch, outcomes, i)) assertEq(answerHash(keys[i]), before[i], "not as it was");
            assertEq(answerHash(keys[i]), _twinAnswerHash(keys[i]), "state");
        }
        assertEq(writes.length, slots, "writes");
        assertEq(logs.length, stored, "events");
        assertEq(twinLogs.length, stored, "the twin's events");
        for (uint256 i = 0; i < logs.length; ++i) {
            assertEq(logs[i].emitter, address(dataset));
            assertEq(abi.encode(logs[i].topics), abi.encode(twinLogs[i].topics));
            assertEq(logs[i].data, twinLogs[i].data);
        }
    }

    /// @dev Tries every index of the key in the batch.
    function _isStored(Batch memory batch, IDataset.KeyOutcome[] memory outcomes, uint256 index)
        private
        pure
        returns (bool)
    {
        for (uint256 i = 0; i < outcomes.length; ++i) {
            bool isSame = batch.keyHashes[i] == batch.keyHashes[index];
            if (isSame && outcomes[i] == IDataset.KeyOutcome.STORED) return true;
        }
        return false;
    }

    function _sendSingles(Batch memory batch, bytes[] memory keys, bool[] memory known)
        private
        returns (Vm.Log[] memory)
    {
        vm.recordLogs();
        for (uint256 i = 0; i < keys.length; ++i) {
            if (!known[i]) _expected.push(IDataset.KeyOutcome.UNKNOWN_KEY);
            else _expected.push(_sendSingle(batch, keys[i], i));
        }
        return vm.getRecordedLogs();
    }

    function _sendSingle(Batch memory batch, bytes memory key, uint256 index) private returns (IDataset.KeyOutcome) {
        (uint256 withValue, uint256 withNone, uint256[] memory values) = _column(batch, index);
        Update memory update = providers.reportFrom(withValue, twin, key, START, values);
        update.value = _claim(batch, index, values);
        (bool done, bytes memory answer) = address(twin).call(update.encode());
        if (!done && selector(answer) == IDataset.NoQuorum.selector) {
            update = providers.reportNoDataFrom(withNone, batch.rows.length - values.length, twin, key, START);
            (done, answer) = address(twin).call(update.encodeNotAvailable());
        }
        bool isPicked = uint8(batch.picks[index]) < batch.rows.length;
        // A batch refuses a pick beyond the rows before it counts.
        if (!done && !isPicked && selector(answer) == IDataset.Undecided.selector) {
            return IDataset.KeyOutcome.WRONG_CLAIM;
        }
        if (!done) return _outcome(selector(answer));
        (, bool isNew) = abi.decode(answer, (Oracle.QueryStatus, bool));
        return isNew ? IDataset.KeyOutcome.STORED : IDataset.KeyOutcome.STALE_ROUND;
    }

    function _outcome(bytes4 error_) private pure returns (IDataset.KeyOutcome) {
        if (error_ == _wrongClaim()) return IDataset.KeyOutcome.WRONG_CLAIM;
        if (error_ == IDataset.NoQuorum.selector) return IDataset.KeyOutcome.NO_QUORUM;
        if (error_ == IDataset.ValueTooLarge.selector) return IDataset.KeyOutcome.VALUE_TOO_LARGE;
        assertEq(error_, IDataset.Undecided.selector, "another error");
        return IDataset.KeyOutcome.UNDECIDED;
    }

    /// @return withValue A bitmap of the members whose rows have a value for the key.
    /// @return withNone A bitmap of the members whose rows have none.
    function _column(Batch memory batch, uint256 index)
        private
        view
        returns (uint256 withValue, uint256 withNone, uint256[] memory values)
    {
        uint256 size = batch.rows.length + batch.absentees.length;
        values = new uint256[](batch.rows.length);
        uint256 row = 0;
        uint256 present = 0;
        for (uint256 place = 0; place < size; ++place) {
            if ((batch.signers >> place) & 1 == 0) continue;
            if ((uint256(batch.rows[row].content) >> index) & 1 == 1) {
                withNone |= 2 ** place;
            } else {
                withValue |= 2 ** place;
                values[present++] = uint256(batch.values[row * batch.keyHashes.length + index]);
            }
            ++row;
        }
        values = _cut(values, present);
    }

    /// @dev Returns the value that a pick refers to; beyond the rows, one that nobody reported.
    function _claim(Batch memory batch, uint256 index, uint256[] memory values) private pure returns (bytes32) {
        uint256 pick = uint8(batch.picks[index]);
        if (pick < batch.rows.length) return batch.values[pick * batch.keyHashes.length + index];
        uint256 unsigned = 0;
        for (uint256 i = 0; i < values.length;) {
            if (values[i++] == unsigned) (unsigned, i) = (unsigned + 1, 0);
        }
        return bytes32(unsigned);
    }

    // ---------------------------------------------------------------- fuzzed inputs

    /// @return True if a batch can store the key.
    function _prepare(bytes memory key, uint256 state) private returns (bool) {
        _prepare(dataset, key, state);
        _prepare(twin, key, state);
        return state > 0;
    }

    function _prepare(IDataset target, bytes memory key, uint256 state) private {
        uint256 size = providers.members().length;
        if (state == 1 || state == 2) target.announce(key);
        if (state == 3 || state == 4) providers.report(target, key, START - 100, equal(size, 77)).send(target);
        if (state == 5) providers.reportNoData(target, key, START - 100, size).sendNotAvailable(target);
        if (state == 6) providers.report(target, key, START, equal(size, 77)).send(target);
        if (state == 7) providers.report(target, key, START + 10, equal(size, 77)).send(target);
    }

    function _rows(uint256 count, uint256 keyCount, uint256 seed)
        private
        pure
        returns (bytes32[][] memory rows, uint256[] memory missing)
    {
        rows = new bytes32[][](count);
        missing = new uint256[](count);
        for (uint256 row = 0; row < count; ++row) {
            rows[row] = new bytes32[](keyCount);
        }
        for (uint256 i = 0; i < keyCount; ++i) {
            uint256 shape = _random(seed, "shape", i);
            for (uint256 row = 0; row < count; ++row) {
                uint256 random = _random(shape, "row", row);
                rows[row][i] = bytes32(_value(shape % 7, random));
                if (_isMissing((shape >> 8) % 5, random >> 128)) missing[row] |= 2 ** i;
            }
        }
    }

    function _value(uint256 shape, uint256 random) private pure returns (uint256) {
        if (shape == 0) return 3000e18 + random % 1e18;
        if (shape == 1) return type(uint208).max;
        if (shape == 2) return random % 2 == 0 ? 1 : type(uint256).max;
        if (shape == 3) return random;
        if (shape == 4) return random % 3;
        if (shape == 5) return random % 4 == 0 ? random : 100;
        return 100 + random % 3;
    }

    function _isMissing(uint256 shape, uint256 random) private pure returns (bool) {
        if (shape <= 1) return false;
        if (shape == 2) return random % 2 == 0;
        return (random % 10 == 0) == (shape == 3);
    }

    /// @dev In some batches, makes one pick wrong or out of range.
    function _bend(Batch memory batch, uint256 seed) private pure {
        uint256 random = _random(seed, "pick", 0);
        uint256 bent = (random >> 8) % batch.picks.length;
        if (random % 8 == 0) batch.picks[bent] = _byte((random >> 16) % 256);
        if (random % 8 == 1) batch.picks[bent] = _byte((random >> 16) % batch.rows.length);
        if (random % 8 == 2) batch.picks[bent] = _byte(batch.rows.length);
    }

    function _byte(uint256 number) private pure returns (bytes1) {
        return bytes1(bytes32(number << 248));
    }

    function _readAll(bytes[] memory keys) private returns (bytes32[] memory states) {
        states = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            states[i] = answerHash(keys[i]);
        }
    }

    function _twinAnswerHash(bytes memory key) private returns (bytes32) {
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = query(twin, key);
        return keccak256(abi.encode(output, updatedAt, status));
    }

    function _cut(uint256[] memory values, uint256 length) private pure returns (uint256[] memory) {
        assembly ("memory-safe") {
            mstore(values, length)
        }
        return values;
    }

    function _random(uint256 seed, string memory what, uint256 index) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, what, index)));
    }
}

/// forge-config: default.fuzz.runs = 100
contract MedianBatchTest is BatchDifferential {
    function _slotsOf(bytes32) internal pure override returns (uint256) {
        return 1;
    }

    function _wrongClaim() internal pure override returns (bytes4) {
        return IDataset.WrongMedian.selector;
    }
}

/// forge-config: default.fuzz.runs = 100
contract MajorityBatchTest is BatchDifferential {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }

    /// @dev A number below 2^206, or a text of at most 25 bytes, lies in the data point.
    function _slotsOf(bytes32 value) internal pure override returns (uint256) {
        return uint256(value) < 2 ** 206 || uint256(value) % 2 ** 56 == 0 ? 1 : 2;
    }

    function _wrongClaim() internal pure override returns (bytes4) {
        return IDataset.WrongMajority.selector;
    }
}
