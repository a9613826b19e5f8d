// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {BitCount} from "../src/libraries/BitCount.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Report, Update} from "./utils/UpdateArguments.sol";
import {ReferencePacking} from "./utils/ReferencePacking.sol";
import {ReferenceReports} from "./utils/ReferenceReports.sol";

/// @notice A valid update passes; change one thing in it, and it reverts with one error.
contract DatasetUpdateTest is DatasetFixture {
    // ---------------------------------------------------------------- valid updates

    function test_update_emitsTheKeyOnlyTheFirstTime() public {
        Update memory first = validUpdate();
        vm.expectEmit(address(dataset));
        emit IDataset.KeyAdded(keccak256(KEY), KEY);
        vm.expectEmit(address(dataset));
        emit IDataset.Updated(keccak256(KEY), first.value, START, Oracle.QueryStatus.OK);
        first.send(dataset);

        vm.warp(START + 1);
        Update memory second = validUpdate();
        vm.recordLogs();
        second.send(dataset);
        assertEq(vm.getRecordedLogs().length, 1);
    }

    /// The relayer needs no permission and gets none.
    function testFuzz_update_mayBeSubmittedByAnyone(address relayer) public {
        vm.assume(relayer != address(vm));
        Update memory update = validUpdate();
        vm.prank(relayer);
        update.send(dataset);
        assertAnswer(dataset, KEY, update.value, START, Oracle.QueryStatus.OK);
        vm.warp(START + 1);
        update = validNoDataUpdate();
        vm.prank(relayer);
        update.sendNotAvailable(dataset);
        assertAnswer(dataset, KEY, 0, START + 1, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function testFuzz_update_acceptsAnyQuorumAndNothingLess(uint256 size, uint256 signers) public {
        size = bound(size, 1, 13);
        signers = bound(signers, 0, size);
        if (3 * signers <= 2 * size) return _refuseCount(size, signers);
        Providers committee = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(committee);
        committee.report(dataset, KEY, START, equal(signers, 5)).send(dataset);
        assertAnswer(dataset, KEY, bytes32(uint256(5)), START, Oracle.QueryStatus.OK);
    }

    function test_update_acceptsACommitteeOf255() public {
        Providers committee = new Providers(255, TOLERANCE_BPS);
        dataset = deploy(committee);
        assertReverts(
            committee.report(dataset, KEY, START, valuesNear3000(170, 1)),
            abi.encodeWithSelector(IDataset.NoQuorum.selector, 170, 85)
        );
        committee.report(dataset, KEY, START, valuesNear3000(171, 1)).send(dataset);
        vm.warp(START + 1);
        uint256 lastOnes = ((1 << 171) - 1) << 84;
        committee.reportFrom(lastOnes, dataset, KEY, START + 1, valuesNear3000(171, 2)).send(dataset);
    }

    function test_update_changesNoOtherKey() public {
        Update memory update = validUpdate();
        update.send(dataset);
        vm.warp(START + 1);
        providers.report(dataset, "SPOTPX/BTC-USD", START + 1, valuesNear3000(3, 2)).send(dataset);
        assertAnswer(dataset, KEY, update.value, START, Oracle.QueryStatus.OK);
    }

    // ---------------------------------------------------------------- quorum

    function test_update_RevertWhen_exactlyTwoThirdsSign() public {
        _refuseCount(3, 2);
        _refuseCount(6, 4);
        _refuseCount(9, 6);
    }

    // ---------------------------------------------------------------- signers

    /// The relayer of reports cannot forge one.
    function testFuzz_update_RevertWhen_aNonMemberSigns(uint256 key, uint256 place) public {
        Update memory update = validUpdate();
        bytes32 value = update.reports[place %= 3].content;
        key = boundPrivateKey(key);
        vm.assume(key != providers.privateKey(place));
        (bytes32 r, bytes32 vs) = vm.signCompact(key, _digest(update, value));
        update.reports[place] = Report({content: value, r: r, vs: vs});
        assertReverts(update, wrongCommittee(update));
    }

    function test_update_RevertWhen_signersArePermuted() public {
        Update memory update = validUpdate();
        (update.reports[0], update.reports[1]) = (update.reports[1], update.reports[0]);
        assertReverts(update, wrongCommittee(update));
    }

    function test_update_RevertWhen_theAbsenteesAreOthers() public {
        providers = new Providers(7, TOLERANCE_BPS);
        dataset = deploy(providers);
        Update memory update = providers.report(dataset, KEY, START, valuesNear3000(5, 1));
        (address first, address second) = (update.absentees[0], update.absentees[1]);
        address[2][5] memory others = [
            [second, first], [second, second], [first, makeAddr("stranger")], [first, address(0)], [address(0), second]
        ];
        for (uint256 i = 0; i < others.length; ++i) {
            (update.absentees[0], update.absentees[1]) = (others[i][0], others[i][1]);
            assertReverts(update, wrongCommittee(update));
        }
        update.absentees = new address[](1);
        update.absentees[0] = first;
        assertReverts(update, wrongCommittee(update));
        update.absentees = new address[](3);
        (update.absentees[0], update.absentees[1], update.absentees[2]) = (first, second, makeAddr("stranger"));
        update.reports = providers.report(dataset, KEY, START, valuesNear3000(7, 1)).reports;
        update.signers = 127;
        assertReverts(update, wrongCommittee(update));
    }

    function testFuzz_update_RevertWhen_theToleranceDiffers(uint16 toleranceBps) public {
        vm.assume(toleranceBps != TOLERANCE_BPS);
        Update memory update = validUpdate();
        update.toleranceBps = toleranceBps;
        assertReverts(update, wrongCommittee(update));
    }

    // ---------------------------------------------------------------- the bitmap of signers

    function test_update_RevertWhen_theBitsAreOfOtherMembers() public {
        for (uint256 signers = 0; signers < 16; ++signers) {
            Update memory update = validUpdate();
            if (update.signers == signers) continue;
            update.signers = signers;
            uint256 count = BitCount.count(signers);
            if (count == 3) {
                assertReverts(update, wrongCommittee(update));
            } else if (count < 3) {
                assertReverts(update, abi.encodeWithSelector(IDataset.NoQuorum.selector, count, 4 - count));
            }
            // The absentee's address is read as a report.
            else {
                assertFalse(succeeds(update.encode()));
            }
        }
    }

    function testFuzz_update_RevertWhen_aBitLiesBeyondTheCommittee(uint256 bit) public {
        bit = bound(bit, 4, 7);
        Update memory update = validUpdate();
        update.signers |= 2 ** bit;
        assertReverts(update, abi.encodeWithSelector(IDataset.UnusedBits.selector, update.signers, 4));
        update.signers ^= 1;
        assertReverts(update, abi.encodeWithSelector(IDataset.UnusedBits.selector, update.signers, 4));
    }

    // ---------------------------------------------------------------- signatures

    /// Half the order is the highest valid s. The address that it recovers to becomes the committee.
    function test_update_RevertWhen_sIsHigh() public {
        uint256 half = SECP256K1_ORDER / 2;
        bytes32 r = validUpdate().reports[0].r;
        Update memory update = _signedBySOnly(r, half);
        update.send(dataset);
        vm.warp(START + 1);
        update = _signedBySOnly(r, half + 1);
        assertReverts(update, wrongCommittee(update));
    }

    // ---------------------------------------------------------------- rounds

    function test_update_changesNothingWhenReplayed() public {
        Update memory update = validUpdate();
        update.send(dataset);
        assertStale(update);
        vm.warp(START + MAX_ROUND_AGE + 1);
        assertStale(update);
    }

    function testFuzz_update_changesNothingWhenTheRoundIsNotNewer(uint256 timestamp, uint256 stored) public {
        stored = bound(stored, START - MAX_ROUND_AGE, START);
        timestamp = bound(timestamp, 0, stored);
        providers.report(dataset, KEY, stored, valuesNear3000(3, 1)).send(dataset);
        assertStale(providers.report(dataset, KEY, timestamp, valuesNear3000(4, 2)));
    }

    /// A stale update is not verified: it says what is stored, and not what its reports say.
    function test_update_returnsTheStoredStatusWhateverIsReported() public {
        uint256[] memory values = new uint256[](4);
        (values[0], values[1], values[2], values[3]) = (1, 2, 3, 4);
        providers.report(dataset, KEY, START, values).send(dataset);
        assertStale(validUpdate());
        Update memory update = validUpdate();
        (update.value, update.signers, update.reports) = (0, 0, new Report[](0));
        assertStale(update);
    }

    function test_update_changesNothingWhenTheRoundIsZero() public {
        Update memory update = providers.report(dataset, KEY, 0, valuesNear3000(3, 1));
        assertStale(update);
        dataset.announce(KEY);
        assertStale(update);
        update.key = "SPOTPX/eth-usd";
        assertStale(update);
    }

    function testFuzz_update_RevertWhen_theRoundLiesAfterTheBlock(uint256 timestamp) public {
        timestamp = bound(timestamp, START + 1, type(uint40).max);
        if (timestamp % 2 == 0) timestamp = START + 1;
        assertReverts(
            providers.report(dataset, KEY, timestamp, valuesNear3000(3, 1)),
            abi.encodeWithSelector(IDataset.FutureRound.selector, timestamp, START)
        );
    }

    function testFuzz_update_acceptsRoundsUpToMaxRoundAge(uint256 maxRoundAge) public {
        DatasetSettings memory other = settings(providers);
        other.maxRoundAge = bound(maxRoundAge, 0, START - 2);
        dataset = deploy(other);
        assertReverts(
            providers.report(dataset, KEY, START - other.maxRoundAge - 1, valuesNear3000(3, 1)),
            abi.encodeWithSelector(IDataset.ExpiredRound.selector, other.maxRoundAge + 1, other.maxRoundAge)
        );
        Update memory update = providers.report(dataset, KEY, START - other.maxRoundAge, valuesNear3000(3, 1));
        update.send(dataset);
        assertAnswer(dataset, KEY, update.value, START - other.maxRoundAge, Oracle.QueryStatus.OK);
    }

    // ---------------------------------------------------------------- no data

    function test_updateNotAvailable_storesThatThereIsNone() public {
        Update memory update = validNoDataUpdate();
        vm.expectEmit(address(dataset));
        emit IDataset.KeyAdded(keccak256(KEY), KEY);
        vm.expectEmit(address(dataset));
        emit IDataset.Updated(keccak256(KEY), 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
        update.sendNotAvailable(dataset);
        assertAnswer(dataset, KEY, 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    /// A report of "no data" has the value 0: no other one can be carried.
    function testFuzz_updateNotAvailable_RevertWhen_aSignedValueIsNotZero(uint256 value, uint256 place) public {
        vm.assume(value != 0);
        Update memory update = validNoDataUpdate();
        place %= 3;
        update.reports[place] = providers.sign(dataset, KEY, Oracle.QueryStatus.NOT_AVAILABLE, START, value, place);
        update.reports[place].content = 0;
        assertNoDataReverts(update, wrongCommittee(update, Oracle.QueryStatus.NOT_AVAILABLE));
    }

    // ---------------------------------------------------------------- calldata

    function testFuzz_update_RevertWhen_theCalldataIsTruncated(uint256 length) public {
        // The zeros that the ABI puts behind the update may be missing.
        bytes memory data = validUpdate().encode();
        length = bound(length, 0, 4 + 64 + validUpdate().pack().length - 1);
        assembly ("memory-safe") {
            mstore(data, length)
        }
        assertFalse(succeeds(data));
        assertAnswer(dataset, KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    // ---------------------------------------------------------------- order of the checks

    /// Nothing behind the key is read before the round and the key are known to be right.
    function test_update_checksTheRoundAndTheKeyFirst() public {
        Update memory update = validUpdate();
        update.signers = 255;
        update.timestamp = START + 1;
        assertReverts(update, abi.encodeWithSelector(IDataset.FutureRound.selector, START + 1, START));
        update.timestamp = START - MAX_ROUND_AGE - 1;
        assertReverts(update, abi.encodeWithSelector(IDataset.ExpiredRound.selector, MAX_ROUND_AGE + 1, MAX_ROUND_AGE));
        update.timestamp = START;
        update.key = "SPOTPX/eth-usd";
        assertReverts(update, abi.encodeWithSelector(IDataset.InvalidKey.selector, update.key));
        update.key = KEY;
        assertReverts(update, abi.encodeWithSelector(IDataset.UnusedBits.selector, 255, 4));
    }

    /// The bitmap comes before the quorum, and the quorum before the values.
    function test_update_checksTheQuorumBeforeTheValues() public {
        Update memory update = validUpdate();
        bytes memory packed = update.pack();
        uint256 bitmap = 11 + KEY.length;
        packed[bitmap + 1] = 0x21;
        packed[bitmap] = 0x13;
        vm.expectRevert(abi.encodeWithSelector(IDataset.UnusedBits.selector, 0x13, 4));
        dataset.update(packed);
        packed[bitmap] = 0x03;
        vm.expectRevert(abi.encodeWithSelector(IDataset.NoQuorum.selector, 2, 2));
        dataset.update(packed);
        packed[bitmap] = 0x07;
        vm.expectRevert(abi.encodeWithSelector(IDataset.TooLong.selector, 33, 32));
        dataset.update(packed);
    }

    /// The kind tells which function was meant, whatever is stored.
    function test_update_RevertWhen_theKindIsAnotherAndTheRoundIsStored() public {
        Update memory update = validUpdate();
        update.send(dataset);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongKind.selector, 2, 1));
        dataset.update(update.packNotAvailable());
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongKind.selector, 1, 2));
        dataset.updateNotAvailable(update.pack());
    }

    /// A late update is read up to its key, and not further.
    function testFuzz_update_readsOnlyKindRoundAndKeyWhenLate(bytes memory rest, bytes3 other, uint256 round) public {
        validUpdate().send(dataset);
        round = bound(round, 0, START);
        bytes memory header = bytes.concat(ReferencePacking.lowest(round, 5), other, bytes2(uint16(KEY.length)));
        bytes memory packed = bytes.concat(hex"01", header, KEY, rest);
        assertStale(KEY, abi.encodeCall(IDataset.update, (packed)));
        packed[0] = 0x02;
        assertStale(KEY, abi.encodeCall(IDataset.updateNotAvailable, (packed)));
    }

    // ---------------------------------------------------------------- helpers

    function _refuseCount(uint256 size, uint256 signers) private {
        Providers committee = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(committee);
        assertReverts(
            committee.report(dataset, KEY, START, valuesNear3000(signers, 1)),
            abi.encodeWithSelector(IDataset.NoQuorum.selector, signers, size - signers)
        );
    }

    function _digest(Update memory update, bytes32 value) private view returns (bytes32) {
        return ReferenceReports.digest(address(dataset), update.key, Oracle.QueryStatus.OK, value, update.timestamp);
    }

    /// @dev No key can produce such a signature on purpose, but it recovers to an address, which becomes the committee.
    function _signedBySOnly(bytes32 r, uint256 s) private returns (Update memory update) {
        update.key = KEY;
        update.timestamp = block.timestamp;
        update.signers = 1;
        update.value = bytes32(uint256(1));
        update.reports = new Report[](1);
        update.reports[0] = Report({content: update.value, r: r, vs: bytes32(s)});
        address[] memory members = new address[](1);
        members[0] = ecrecover(_digest(update, update.value), 27, r, bytes32(s));
        assertNotEq(members[0], address(0));
        vm.prank(OWNER);
        dataset.setCommittee(members, 0);
    }
}
