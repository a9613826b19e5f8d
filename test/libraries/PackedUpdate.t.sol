// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {ReferencePacking} from "../utils/ReferencePacking.sol";
import {ReferenceUnpacking} from "../utils/ReferenceUnpacking.sol";
import {Batch, Update} from "../utils/UpdateArguments.sol";

/// @notice Sends packed updates of any content, as the plain twin packs them, and faults of them, to datasets as they are
/// deployed.
abstract contract PackedUpdates is DatasetFixture {
    uint256 private constant OF_VALUES = 1;
    uint256 private constant OF_NO_DATA = 2;
    uint256 private constant OF_BATCH = 3;
    uint256 private constant HEADER = 11;

    ReferenceUnpacking private immutable TWIN = new ReferenceUnpacking();

    // ---------------------------------------------------------------- what the twin packs

    function testFuzz_verify_takesWhatThePlainTwinPacks(uint256 size, uint256 seed, bytes memory key) public {
        Update memory update = _any(size, seed, key);
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = dataset.verify{value: PRICE}(update.pack());
        assertEq(updatedAt, START);
        assertEq(output, status == Oracle.QueryStatus.OK ? update.value : bytes32(0));
        if (_isOfMajorities()) assertEq(status, Oracle.QueryStatus.OK);
        assertEq(abi.encode(TWIN.unpackUpdate(update.pack(), OF_VALUES)), abi.encode(update));
    }

    /// Every key that all signers have a value for is stored.
    function testFuzz_updateBatch_takesWhatThePlainTwinPacks(uint256 seed) public {
        bytes[] memory keys = _announced(seed);
        Batch memory batch = _anyBatch(keys, seed);
        IDataset.KeyOutcome[] memory outcomes = batch.send(dataset);
        assertEq(outcomes.length, keys.length);
        uint256 missing = 0;
        for (uint256 row = 0; row < batch.rows.length; ++row) {
            missing |= uint256(batch.rows[row].content);
        }
        for (uint256 i = 0; i < keys.length; ++i) {
            if ((missing >> i) & 1 == 1) continue;
            assertEq(uint256(outcomes[i]), uint256(IDataset.KeyOutcome.STORED));
            (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = query(dataset, keys[i]);
            assertEq(updatedAt, START);
            bytes32 picked = batch.values[uint8(batch.picks[i]) * keys.length + i];
            assertEq(output, status == Oracle.QueryStatus.OK ? picked : bytes32(0));
            if (_isOfMajorities()) assertEq(status, Oracle.QueryStatus.OK);
        }
        assertEq(abi.encode(TWIN.unpackBatch(batch.pack())), abi.encode(batch));
    }

    /// 100 bytes, the key, a bit for each member, 65 bytes and its value for each signer, and 20 for each absentee.
    function testFuzz_update_hasFewBytes(uint256 size, uint256 seed, bytes memory key) public {
        Update memory update = _any(size, seed, key);
        uint256 members = update.reports.length + update.absentees.length;
        uint256 bound_ = 100 + update.key.length + members / 8 + 20 * update.absentees.length;
        for (uint256 i = 0; i < update.reports.length; ++i) {
            bound_ += 65 + _width(update.reports[i].content);
        }
        // The claimed value is sent once for all who reported it.
        assertLe(update.encode().length, 4 + (bound_ - 4 + 31) / 32 * 32);
    }

    // ---------------------------------------------------------------- any change of it

    /// What the twin refuses, the dataset refuses with the same error. What the twin unpacks, it packs to the same bytes
    /// again, so there is no second form of any content; and it is not what the members signed.
    function testFuzz_verify_RevertWhen_bytesAreChanged(uint256 seed, uint256 change, bool isNoData) public {
        uint256 kind_ = isNoData ? OF_NO_DATA : OF_VALUES;
        bytes memory packed = _packed(seed, kind_);
        bytes memory changed = _changed(packed, change);
        vm.assume(keccak256(changed) != keccak256(packed));
        bytes memory reason = _refusal(changed, kind_);
        try TWIN.unpackUpdate(changed, kind_) returns (Update memory update) {
            assertEq(isNoData ? update.packNotAvailable() : update.pack(), changed);
            // forge-lint: disable-next-line(unsafe-typecast)
            assertEq(bytes4(reason), IDataset.WrongCommittee.selector);
        } catch (bytes memory expected) {
            assertEq(reason, expected);
        }
    }

    /// Only the picks of a batch may be others.
    function testFuzz_updateBatch_RevertWhen_bytesAreChanged(uint256 seed, uint256 change) public {
        bytes memory packed = _packed(seed, OF_BATCH);
        bytes memory changed = _changed(packed, change);
        vm.assume(keccak256(changed) != keccak256(packed));
        (bool isDone, bytes memory reason) = address(dataset).call(abi.encodeCall(IDataset.updateBatch, (changed)));
        try TWIN.unpackBatch(changed) returns (Batch memory batch) {
            assertEq(batch.pack(), changed);
            batch.picks = TWIN.unpackBatch(packed).picks;
            if (keccak256(batch.pack()) == keccak256(packed)) return assertTrue(isDone, "another pick");
            // forge-lint: disable-next-line(unsafe-typecast)
            assertEq(bytes4(reason), IDataset.WrongCommittee.selector);
        } catch (bytes memory expected) {
            assertEq(reason, expected);
        }
        assertFalse(isDone);
    }

    function testFuzz_verify_RevertWhen_itIsCutOff(uint256 seed, uint256 length, uint256 kind_) public {
        kind_ = bound(kind_, OF_VALUES, OF_BATCH);
        bytes memory packed = _packed(seed, kind_);
        packed = _slice(packed, 0, bound(length, 1, packed.length - 1));
        bytes memory reason = _refusal(packed, kind_);
        // forge-lint: disable-next-line(unsafe-typecast)
        assertEq(bytes4(reason), IDataset.WrongLength.selector);
    }

    function testFuzz_verify_RevertWhen_bytesFollow(uint256 seed, bytes memory rest, uint256 kind_) public {
        vm.assume(rest.length > 0);
        kind_ = bound(kind_, OF_VALUES, OF_BATCH);
        bytes memory packed = _packed(seed, kind_);
        _refuse(bytes.concat(packed, rest), kind_, _wrongLength(packed.length + rest.length, packed.length));
    }

    /// Wallets append a suffix that names them.
    function testFuzz_update_ignoresBytesBehindTheArgument(uint256 seed, bytes memory rest, uint256 kind_) public {
        kind_ = bound(kind_, OF_VALUES, OF_BATCH);
        assertTrue(succeeds(bytes.concat(_call(_packed(seed, kind_), kind_), rest)));
    }

    // ---------------------------------------------------------------- each fault

    function testFuzz_verify_RevertWhen_theKindIsAnother(uint256 seed, uint8 kind_, uint256 expected) public {
        expected = bound(expected, OF_VALUES, OF_BATCH);
        vm.assume(kind_ != expected);
        bytes memory packed = _packed(seed, expected);
        packed[0] = bytes1(kind_);
        _refuse(packed, expected, abi.encodeWithSelector(IDataset.WrongKind.selector, kind_, expected));
    }

    function test_verify_RevertWhen_thereAreNoBytes() public {
        for (uint256 kind_ = OF_VALUES; kind_ <= OF_BATCH; ++kind_) {
            _refuse("", kind_, abi.encodeWithSelector(IDataset.WrongKind.selector, 0, kind_));
        }
    }

    function testFuzz_verify_RevertWhen_theClaimIsTooLong(uint256 seed, uint8 length) public {
        length = uint8(bound(length, 33, 255));
        bytes memory packed = _packed(seed, OF_VALUES);
        packed[_claimOffset()] = bytes1(length);
        _refuse(packed, OF_VALUES, abi.encodeWithSelector(IDataset.TooLong.selector, length, 32));
    }

    function testFuzz_verify_RevertWhen_aValueIsTooLong(uint256 seed, uint8 length) public {
        length = uint8(bound(length, 33, 254));
        bytes memory packed = _withFirstValue(seed, bytes.concat(bytes1(length), hex"01", new bytes(length - 1)));
        _refuse(packed, OF_VALUES, abi.encodeWithSelector(IDataset.TooLong.selector, length, 32));
    }

    function testFuzz_verify_RevertWhen_theClaimHasALeadingZero(uint256 seed, uint8 value, uint256 length) public {
        length = bound(length, value == 0 ? 1 : 2, 32);
        bytes memory packed = _packed(seed, OF_VALUES);
        bytes memory spelled = bytes.concat(ReferencePacking.lowest(length, 1), new bytes(length - 1), bytes1(value));
        packed = _splice(packed, _claimOffset(), 1 + uint8(packed[_claimOffset()]), spelled);
        _refuse(packed, OF_VALUES, abi.encodeWithSelector(IDataset.LeadingZero.selector, _claimOffset()));
    }

    function testFuzz_verify_RevertWhen_aValueHasALeadingZero(uint256 seed, uint8 value, uint256 length) public {
        length = bound(length, value == 0 ? 1 : 2, 32);
        bytes memory spelled = bytes.concat(ReferencePacking.lowest(length, 1), new bytes(length - 1), bytes1(value));
        bytes memory packed = _withFirstValue(seed, spelled);
        vm.assume(TWIN.unpackUpdate(_packed(seed, OF_VALUES), OF_VALUES).value != bytes32(uint256(value)));
        bytes memory reason = abi.encodeWithSelector(IDataset.LeadingZero.selector, _firstOffset(packed));
        _refuse(packed, OF_VALUES, reason);
    }

    /// The claimed value is written once, with its length.
    function testFuzz_verify_RevertWhen_aMemberSpellsOutTheClaimedValue(uint256 value) public {
        bytes memory packed = providers.report(dataset, KEY, START, equal(3, value)).pack();
        uint256 first = _firstOffset(packed);
        packed = _splice(packed, first, 1, _slice(packed, _claimOffset(), first));
        _refuse(packed, OF_VALUES, abi.encodeWithSelector(IDataset.RepeatedClaim.selector, first));
    }

    function testFuzz_updateBatch_RevertWhen_theValuesOfARowAreTooLong(uint256 seed, uint8 length) public {
        length = uint8(bound(length, 33, 255));
        bytes memory packed = _batchOfThree(seed).pack();
        packed[_rowOffset()] = bytes1(length);
        _refuse(packed, OF_BATCH, abi.encodeWithSelector(IDataset.TooLong.selector, length, 32));
    }

    /// The first row of three keys is written in more bytes than the largest of its values needs.
    function testFuzz_updateBatch_RevertWhen_aRowIsWiderThanItsValues(uint256 seed, uint256 width) public {
        Batch memory batch = _batchOfThree(seed);
        bytes memory packed = batch.pack();
        uint256 length = uint8(packed[_rowOffset()]);
        vm.assume(length < 32);
        width = bound(width, length + 1, 32);
        bytes memory spelled = bytes.concat(ReferencePacking.lowest(width, 1), packed[_rowOffset() + 1]);
        for (uint256 i = 0; i < 3; ++i) {
            spelled = bytes.concat(spelled, _slice(abi.encode(batch.values[i]), 32 - width, 32));
        }
        packed = _splice(packed, _rowOffset(), 2 + 3 * length, spelled);
        _refuse(packed, OF_BATCH, abi.encodeWithSelector(IDataset.LeadingZero.selector, _rowOffset()));
    }

    // ---------------------------------------------------------------- content

    /// @dev Returns an update of a new round, with values of any width. A majority agrees where only that is stored.
    function _any(uint256 size, uint256 seed, bytes memory key) private returns (Update memory update) {
        size = bound(size, 1, seed % 8 == 0 ? 255 : 13);
        providers = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(providers);
        (uint256 signers, uint256 count) = anyQuorum(size, seed);
        bytes32 filler = keccak256(key);
        key = bytes.concat(filler, key, filler, filler);
        uint256 length = 1 + seed % (key.length < 256 ? key.length : 256);
        assembly ("memory-safe") {
            mstore(key, length)
        }
        return providers.reportFrom(signers, dataset, key, START, _values(size, count, seed));
    }

    /// @dev Returns values of up to 32 bytes. A value of which more than half of the members are sure is one that each
    /// kind of dataset can store: the same one, or a median of at most 26 bytes.
    function _values(uint256 size, uint256 count, uint256 seed) private view returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, "value", seed % 3 == 0 ? i % 2 : i)));
            if (_isOfMajorities() && i <= size / 2) random = uint256(keccak256(abi.encode(seed, "majority")));
            uint256 zeros = random % 33;
            if (!_isOfMajorities() && i < (count + 1) / 2) zeros = 6 + random % 27;
            values[(i + seed % count) % count] = random >> (8 * zeros);
        }
    }

    function _announced(uint256 seed) private returns (bytes[] memory keys) {
        keys = _keys(1 + seed % 10);
        for (uint256 i = 0; i < keys.length; ++i) {
            dataset.announce(keys[i]);
        }
    }

    function _keys(uint256 count) private pure returns (bytes[] memory keys) {
        keys = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            keys[i] = abi.encodePacked("SPOTPX/K", vm.toString(i), "-USD");
        }
    }

    function _anyBatch(bytes[] memory keys, uint256 seed) private view returns (Batch memory) {
        (uint256 signers, uint256 count) = anyQuorum(4, seed);
        (bytes32[][] memory rows, uint256[] memory missing) = (new bytes32[][](count), new uint256[](count));
        for (uint256 row = 0; row < count; ++row) {
            rows[row] = new bytes32[](keys.length);
            uint256 random = uint256(keccak256(abi.encode(seed, "missing", row)));
            // One key in eight.
            missing[row] = random & (random >> 64) & (random >> 128) & (2 ** keys.length - 1);
        }
        for (uint256 i = 0; i < keys.length; ++i) {
            uint256[] memory values = _values(4, count, uint256(keccak256(abi.encode(seed, i))));
            for (uint256 row = 0; row < count; ++row) {
                rows[row][i] = bytes32(values[row]);
            }
        }
        return providers.reportManyFrom(signers, dataset, keys, START, rows, missing);
    }

    /// @dev Of the first three members of four, and complete.
    function _batchOfThree(uint256 seed) private view returns (Batch memory) {
        bytes32[][] memory rows = new bytes32[][](3);
        for (uint256 row = 0; row < 3; ++row) {
            rows[row] = new bytes32[](3);
            for (uint256 i = 0; i < 3; ++i) {
                uint256 random = uint256(keccak256(abi.encode(seed, row, i)));
                rows[row][i] = bytes32(random >> (8 * (seed % 33)));
            }
        }
        return providers.reportMany(dataset, _keys(3), START, rows, new uint256[](3));
    }

    /// @dev Returns what any quorum of the four members signed.
    function _packed(uint256 seed, uint256 kind_) private view returns (bytes memory) {
        if (kind_ == OF_BATCH) return _anyBatch(_keys(1 + seed % 10), seed).pack();
        (uint256 signers, uint256 count) = anyQuorum(4, seed);
        if (kind_ == OF_NO_DATA) {
            return providers.reportNoDataFrom(signers, count, dataset, KEY, START).packNotAvailable();
        }
        return providers.reportFrom(signers, dataset, KEY, START, _values(4, count, seed)).pack();
    }

    /// @dev Replaces up to two bytes by up to two others, often near the beginning. The round stays: a dataset checks it
    /// before it reads on.
    function _changed(bytes memory packed, uint256 change) private pure returns (bytes memory) {
        uint256 place = (change >> 32) % (change % 4 == 0 ? 60 : packed.length);
        uint256 removed = (change >> 16) % 3;
        if (place + removed > packed.length) removed = 0;
        bytes memory inserted = _slice(abi.encode(change), 0, (change >> 8) % 3);
        packed = _splice(packed, place, removed, inserted);
        return _splice(packed, 1, 5, ReferencePacking.lowest(START, 5));
    }

    // ---------------------------------------------------------------- refusals

    function _call(bytes memory packed, uint256 kind_) private pure returns (bytes memory) {
        if (kind_ == OF_BATCH) return abi.encodeCall(IDataset.updateBatch, (packed));
        if (kind_ == OF_NO_DATA) return abi.encodeCall(IDataset.updateNotAvailable, (packed));
        return abi.encodeCall(IDataset.update, (packed));
    }

    /// @notice Returns why the packed bytes are refused: by an update, and for the same reason by a verification, except
    /// that only an update needs a key of the dataset's form.
    function _refusal(bytes memory packed, uint256 kind_) private returns (bytes memory reason) {
        bytes memory data = _call(packed, kind_);
        bool isDone;
        (isDone, reason) = address(dataset).call(data);
        assertFalse(isDone, vm.toString(packed));
        if (kind_ == OF_BATCH) return reason;
        bytes memory updateReason = reason;
        (isDone, reason) = address(dataset).call{value: PRICE}(verificationOf(data));
        assertFalse(isDone, vm.toString(packed));
        // forge-lint: disable-next-line(unsafe-typecast)
        if (bytes4(updateReason) != IDataset.InvalidKey.selector) assertEq(updateReason, reason);
    }

    function _refuse(bytes memory packed, uint256 kind_, bytes memory reason) private {
        assertEq(_refusal(packed, kind_), reason);
    }

    function _wrongLength(uint256 length, uint256 expected) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IDataset.WrongLength.selector, length, expected);
    }

    // ---------------------------------------------------------------- bytes

    /// @notice Returns an update of the first three members but for the first one's value, which is replaced.
    function _withFirstValue(uint256 seed, bytes memory spelled) private view returns (bytes memory packed) {
        packed = providers.report(dataset, KEY, START, _values(4, 3, seed)).pack();
        uint256 offset = _firstOffset(packed);
        uint256 length = uint8(packed[offset]);
        return _splice(packed, offset, length == 255 ? 1 : 1 + length, spelled);
    }

    /// @dev Where the first member's value is, if the first member signed.
    function _firstOffset(bytes memory packed) private pure returns (uint256) {
        return _claimOffset() + 1 + uint8(packed[_claimOffset()]);
    }

    /// @dev Behind the header, the key, and the bitmap of up to eight members.
    function _claimOffset() private pure returns (uint256) {
        return HEADER + KEY.length + 1;
    }

    /// @dev Behind the header, three keys' hashes and picks, and the bitmap of up to eight members.
    function _rowOffset() private pure returns (uint256) {
        return HEADER + 3 * 33 + 1;
    }

    /// @notice Replaces `length` bytes at an offset by others.
    function _splice(bytes memory packed, uint256 offset, uint256 length, bytes memory other)
        private
        pure
        returns (bytes memory)
    {
        return bytes.concat(_slice(packed, 0, offset), other, _slice(packed, offset + length, packed.length));
    }

    function _slice(bytes memory packed, uint256 from, uint256 to) private pure returns (bytes memory part) {
        part = new bytes(to - from);
        for (uint256 i = 0; i < part.length; ++i) {
            part[i] = packed[from + i];
        }
    }

    function _isOfMajorities() private view returns (bool) {
        return keccak256(bytes(kind())) == keccak256(bytes(MAJORITY));
    }

    function _width(bytes32 value) private pure returns (uint256 width) {
        for (uint256 rest = uint256(value); rest != 0; rest >>= 8) {
            ++width;
        }
    }
}

/// forge-config: default.fuzz.runs = 100
contract MedianPackedUpdateTest is PackedUpdates {
    function test_update_hasFewBytesForAPrice() public {
        uint256[2][4] memory committees = [[uint256(4), 3], [uint256(5), 4], [uint256(13), 9], [uint256(31), 21]];
        uint256[4] memory bounds = [uint256(360), 440, 880, 1900];
        for (uint256 i = 0; i < 4; ++i) {
            providers = new Providers(committees[i][0], TOLERANCE_BPS);
            dataset = deploy(providers);
            uint256[] memory values = new uint256[](committees[i][1]);
            for (uint256 k = 0; k < values.length; ++k) {
                values[k] = type(uint80).max - k;
            }
            assertLe(providers.report(dataset, KEY, START, values).encode().length, bounds[i]);
        }
    }
}

/// forge-config: default.fuzz.runs = 100
contract MajorityPackedUpdateTest is PackedUpdates {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
