// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Vm, VmSafe} from "forge-std/Vm.sol";

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {KeyForm, KeyFormLibrary} from "../src/types/KeyForm.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Batch, BatchLibrary, Report, Update} from "./utils/UpdateArguments.sol";

/// @notice Attacks every kind of dataset, by signatures, committees, rounds and calldata that are not as they should be.
/// @dev All members that sign a value sign `VALUE`, so that they agree in every kind.
abstract contract DatasetAttacks is DatasetFixture {
    using BatchLibrary for Batch;
    using KeyFormLibrary for KeyForm;

    uint256 private constant VALUE = 7;
    uint256 private constant CHANGES = 3;

    bytes[] private keys = [bytes("SPOTPX/ETH-USD"), "SPOTPX/BTC-USD", "SPOTPX/BTC-EUR"];

    // ---------------------------------------------------------------- signatures

    /// A member's report takes another member's place, unchanged or signed for that member's value.
    function testFuzz_update_RevertWhen_aMemberSignsTwice(uint256 place, uint256 other) public {
        (place, other) = (place % 3, other % 3);
        vm.assume(place != other);
        Update memory update = _agreed();
        update.reports[place] = update.reports[other];
        assertReverts(update, wrongCommittee(update));
        update.reports[place] = providers.sign(dataset, KEY, Oracle.QueryStatus.OK, START, VALUE + 1, other);
        assertReverts(update, wrongCommittee(update));
    }

    /// A report is valid only for the value, round, key, dataset, outcome and chain that it states.
    function testFuzz_update_RevertWhen_somethingElseWasSigned(
        bytes32 value,
        uint256 round,
        bytes16 base,
        address other,
        uint64 chainId
    ) public {
        vm.assume(value != bytes32(VALUE) && other != address(dataset) && chainId != 0 && chainId != block.chainid);
        Update memory update = _agreed();
        update.reports[uint256(value) % 3].content = value;
        assertReverts(update, wrongCommittee(update));
        update = _agreed();
        update.timestamp = bound(round, START - MAX_ROUND_AGE, START - 1);
        assertReverts(update, wrongCommittee(update));
        update = providers.report(dataset, abi.encodePacked("SPOTPX/", base, "-USD"), START, equal(3, VALUE));
        update.key = KEY;
        assertReverts(update, wrongCommittee(update));
        update = providers.report(IDataset(other), KEY, START, equal(3, VALUE));
        assertReverts(update, wrongCommittee(update));
        update = validNoDataUpdate();
        assertReverts(update, wrongCommittee(update));
        update = providers.report(dataset, KEY, START, new uint256[](3));
        assertNoDataReverts(update, wrongCommittee(update, Oracle.QueryStatus.NOT_AVAILABLE));
        update = _agreed();
        vm.chainId(chainId);
        assertReverts(update, wrongCommittee(update));
    }

    // ---------------------------------------------------------------- absentees

    function testFuzz_update_RevertWhen_aSignerIsNamedAbsent(uint256 place) public {
        Update memory update = _agreed();
        update.absentees[0] = providers.members()[place % 3];
        assertReverts(update, wrongCommittee(update));
    }

    // ---------------------------------------------------------------- values and "no data"

    /// Of seven members, any number signs a value, any number signs "no data", and the others are absent.
    function test_update_neverMixesValuesAndNoData() public {
        _committee(7);
        for (uint256 present = 0; present <= 7; ++present) {
            for (uint256 none = 0; none <= 7 - present; ++none) {
                vm.warp(block.timestamp + 1);
                _assertMixed(present, none);
            }
        }
    }

    // ---------------------------------------------------------------- rotation

    /// An update in flight when one member is replaced is rejected, but passes when rebuilt from the same signatures.
    function test_update_isRebuiltFromTheMembersOfBothCommittees() public {
        Update memory update = _agreed();
        address[] memory members = providers.members();
        members[3] = address(type(uint160).max);
        _setCommittee(members);
        assertReverts(update, wrongCommittee(update));
        update.absentees[0] = members[3];
        update.send(dataset);
        assertAnswer(dataset, KEY, bytes32(VALUE), START, Oracle.QueryStatus.OK);
    }

    /// A member's signature counts only while it is in the committee: not after its removal, but again once it is back.
    function test_update_countsAMemberThatWasRemovedAndAddedAgain() public {
        Update memory update = _agreed();
        address[] memory members = providers.members();
        _setCommittee(_without(members, 0));
        assertReverts(update, wrongCommittee(update));
        Update memory less = _agreed();
        (less.reports, less.absentees) = (_afterTheFirst(less.reports), new address[](0));
        less.signers = 3;
        assertReverts(less, wrongCommittee(less));
        _setCommittee(members);
        update.send(dataset);
        assertAnswer(dataset, KEY, bytes32(VALUE), START, Oracle.QueryStatus.OK);
    }

    // ---------------------------------------------------------------- reentrancy

    /// No consumer, relayer or member can re-enter: the dataset calls nothing but the ecrecover precompile.
    function test_dataset_callsOnlyThePrecompile() public {
        Batch memory batch = _batch();
        _announce();
        vm.startStateDiffRecording();
        batch.send(dataset);
        providers.report(dataset, "SPOTPX/A-B", START, equal(3, VALUE)).send(dataset);
        providers.reportNoData(dataset, "SPOTPX/A-C", START, 3).sendNotAvailable(dataset);
        dataset.announce("SPOTPX/A-D");
        dataset.query{value: PRICE}(KEY);
        Vm.AccountAccess[] memory accesses = vm.stopAndReturnStateDiff();
        (uint256 entered, uint256 recovered) = (0, 0);
        for (uint256 i = 0; i < accesses.length; ++i) {
            bool isCall = accesses[i].kind == VmSafe.AccountAccessKind.Call;
            if (isCall && accesses[i].account == address(dataset)) ++entered;
            if (accesses[i].accessor != address(dataset)) continue;
            assertEq(accesses[i].account, address(1));
            ++recovered;
        }
        assertEq(entered, 5);
        assertEq(recovered, 9);
    }

    // ---------------------------------------------------------------- keys

    /// Neither a value nor "no data" nor an announcement can add such a key.
    function testFuzz_update_RevertWhen_theKeyIsOfAnotherForm(bytes memory key, uint256 place, bytes1 other) public {
        if (place % 2 == 0) {
            key = bytes.concat(KEY);
            key[(place >> 1) % key.length] = other;
        }
        vm.assume(!KeyForm.SPOT_PRICE.matches(key));
        bytes memory reason = abi.encodeWithSelector(IDataset.InvalidKey.selector, key);
        assertReverts(providers.report(dataset, key, START, equal(3, VALUE)), reason);
        assertNoDataReverts(providers.reportNoData(dataset, key, START, 3), reason);
        vm.expectRevert(reason);
        dataset.announce(key);
        assertAnswer(dataset, key, 0, 0, Oracle.QueryStatus.INVALID);
    }

    // ---------------------------------------------------------------- calldata

    function test_update_storesNothingElseWhenAByteIsChanged() public {
        bytes memory data = _agreed().encode();
        uint256 state = vm.snapshotState();
        for (uint256 i = 0; i < CHANGES * data.length; ++i) {
            if (!stores(_changed(data, i))) continue;
            _assertStoredOnlyIf(true, KEY, VALUE);
            vm.revertToState(state);
        }
    }

    function test_updateBatch_storesNothingElseWhenAByteIsChanged() public {
        _announce();
        bytes memory data = _batch().encode();
        uint256 state = vm.snapshotState();
        for (uint256 i = 0; i < CHANGES * data.length; ++i) {
            if (!succeeds(_changed(data, i))) continue;
            for (uint256 place = 0; place < keys.length; ++place) {
                (, uint256 updatedAt,) = query(dataset, keys[place]);
                _assertStoredOnlyIf(updatedAt != 0, keys[place], VALUE + place);
            }
            vm.revertToState(state);
        }
    }

    // ---------------------------------------------------------------- helpers

    function _committee(uint256 size) private {
        providers = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(providers);
    }

    function _setCommittee(address[] memory members) private {
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
    }

    function _announce() private {
        for (uint256 i = 0; i < keys.length; ++i) {
            dataset.announce(keys[i]);
        }
    }

    /// @dev Three of the four members sign.
    function _agreed() private view returns (Update memory) {
        return providers.report(dataset, KEY, START, equal(3, VALUE));
    }

    function _batch() private view returns (Batch memory) {
        bytes32[][] memory rows = new bytes32[][](3);
        for (uint256 row = 0; row < 3; ++row) {
            rows[row] = new bytes32[](keys.length);
            for (uint256 i = 0; i < keys.length; ++i) {
                rows[row][i] = bytes32(VALUE + i);
            }
        }
        return providers.reportMany(dataset, keys, START, rows, new uint256[](3));
    }

    function _without(address[] memory members, uint256 place) private pure returns (address[] memory others) {
        others = new address[](members.length - 1);
        for (uint256 i = 0; i < others.length; ++i) {
            others[i] = members[i < place ? i : i + 1];
        }
    }

    function _afterTheFirst(Report[] memory reports) private pure returns (Report[] memory others) {
        others = new Report[](reports.length - 1);
        for (uint256 i = 0; i < others.length; ++i) {
            others[i] = reports[i + 1];
        }
    }

    function _assertMixed(uint256 present, uint256 none) private {
        uint256 round = block.timestamp;
        Update memory update = providers.report(dataset, KEY, round, equal(present, VALUE));
        Update memory noData = providers.reportNoDataFrom((2 ** none - 1) << present, none, dataset, KEY, round);
        if (present > 4) {
            assertNoDataReverts(noData, abi.encodeWithSelector(IDataset.NoQuorum.selector, none, 7 - none));
            update.send(dataset);
            assertAnswer(dataset, KEY, bytes32(VALUE), round, Oracle.QueryStatus.OK);
        } else {
            assertReverts(update, abi.encodeWithSelector(IDataset.NoQuorum.selector, present, 7 - present));
            if (none <= 4) {
                return assertNoDataReverts(noData, abi.encodeWithSelector(IDataset.NoQuorum.selector, none, 7 - none));
            }
            noData.sendNotAvailable(dataset);
            assertAnswer(dataset, KEY, 0, round, Oracle.QueryStatus.NOT_AVAILABLE);
        }
    }

    function _assertStoredOnlyIf(bool stored, bytes memory key, uint256 value) private {
        if (stored) assertAnswer(dataset, key, bytes32(value), START, Oracle.QueryStatus.OK);
        else assertAnswer(dataset, key, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    /// @dev Returns the data with one byte changed: its lowest bit, another one, or all of them.
    function _changed(bytes memory data, uint256 change) private pure returns (bytes memory copy) {
        copy = bytes.concat(data);
        copy[change / CHANGES] ^= [bytes1(0x01), 0x10, 0xff][change % CHANGES];
    }
}

contract MedianAttacksTest is DatasetAttacks {}

contract MajorityAttacksTest is DatasetAttacks {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
