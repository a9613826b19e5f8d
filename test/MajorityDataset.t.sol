// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Update} from "./utils/UpdateArguments.sol";
import {ReferenceMajority} from "./utils/ReferenceMajority.sol";

contract MajorityDatasetTest is DatasetFixture {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }

    // ---------------------------------------------------------------- counting matches sorting

    function testFuzz_update_matchesSorting(uint256 size, uint256 seed) public {
        size = bound(size, 1, 31);
        _committee(size, TOLERANCE_BPS);
        (uint256 signers, uint256 count) = anyQuorum(size, seed);
        uint256[] memory values = _fewValues(count, seed);
        Update memory update = _update(signers, values);
        Oracle.QueryStatus status = ReferenceMajority.status(values, size);
        if (status == Oracle.QueryStatus.INVALID) return assertReverts(update, _undecided(count, size - count));
        assertEq(update.send(dataset), status);
        bytes32 output = status == Oracle.QueryStatus.OK ? update.value : bytes32(0);
        assertAnswer(dataset, KEY, output, START, status);
    }

    function testFuzz_update_RevertWhen_theClaimIsNotTheMajority(uint256 size, bytes32 claimed, uint256 seed) public {
        size = bound(size, 1, 31);
        _committee(size, TOLERANCE_BPS);
        uint256[] memory values = _fewValues(size, seed);
        (uint256 majority, uint256 count) = ReferenceMajority.mostFrequent(values);
        // A value that some member signed, or one that none did.
        if (seed % 2 == 0) claimed = bytes32(values[(seed >> 8) % size]);
        if (count <= size / 2) (majority, values) = (7, equal(size, 7));
        vm.assume(uint256(claimed) != majority);
        Update memory update = _update(2 ** size - 1, values);
        update.value = claimed;
        assertReverts(update, abi.encodeWithSelector(IDataset.WrongMajority.selector, claimed, majority));
    }

    /// Without a majority 0 is stored, whichever of the values is claimed.
    function testFuzz_update_disagreesWhicheverIsClaimed(uint256 claimed) public {
        Update memory update = _update(15, _values(1, 2, 3, 4));
        update.value = bytes32(1 + claimed % 4);
        vm.expectEmit(address(dataset));
        emit IDataset.Updated(keccak256(KEY), 0, START, Oracle.QueryStatus.DISAGREEMENT);
        assertEq(update.send(dataset), Oracle.QueryStatus.DISAGREEMENT);
        assertAnswer(dataset, KEY, 0, START, Oracle.QueryStatus.DISAGREEMENT);
    }

    /// A claim that nobody signed could be changed by anybody.
    function testFuzz_update_RevertWhen_nobodySignedTheClaim(bytes32 claimed) public {
        vm.assume(uint256(claimed) == 0 || uint256(claimed) > 4);
        Update memory update = _update(15, _values(1, 2, 3, 4));
        update.value = claimed;
        assertReverts(update, abi.encodeWithSelector(IDataset.WrongMajority.selector, claimed, 1));
    }

    function testFuzz_update_isUndecidedWhateverIsClaimed(bytes32 claimed) public {
        vm.assume(claimed != bytes32(uint256(1)));
        Update memory update = _update(7, _values(1, 1, 2));
        update.value = claimed;
        assertReverts(update, _undecided(3, 1));
    }

    // ---------------------------------------------------------------- more than half of the whole committee

    function test_update_exactlyHalfIsNotEnough() public {
        Update memory update = _update(15, _values(5, 5, 6, 6));
        assertEq(update.send(dataset), Oracle.QueryStatus.DISAGREEMENT);
        vm.warp(START + 1);
        // Nor is it enough if the other half disagrees among itself.
        update = _update(15, _values(5, 5, 6, 7));
        assertEq(update.send(dataset), Oracle.QueryStatus.DISAGREEMENT);
    }

    // ---------------------------------------------------------------- storage

    function testFuzz_update_acceptsAnyValue(uint256 value) public {
        _assertStored(_values(value, value, value), value);
    }

    function test_update_forgetsItsValueWhenItDisagrees() public {
        _assertStored(equal(4, type(uint256).max), type(uint256).max);
        uint256 round = vm.getBlockTimestamp();
        _update(15, _values(1, 2, 3, 4)).send(dataset);
        assertAnswer(dataset, KEY, 0, round, Oracle.QueryStatus.DISAGREEMENT);
        vm.warp(round + 1);
        _assertStored(equal(4, 8), 8);
    }

    /// Numbers, texts and hashes follow one another, whichever of them has a slot of its own.
    function testFuzz_update_storesTheLastOfSeveralValues(uint256[6] memory values, uint256 forms) public {
        for (uint256 i = 0; i < 6; ++i) {
            uint256 bits = (forms >> (16 * i)) % 257;
            uint256 value = (forms >> (16 * i + 15)) % 2 == 0 ? values[i] >> bits : values[i] >> bits << bits;
            _assertStored(equal(4, value), value);
        }
    }

    /// On both sides of what fits the data point, in any order.
    function test_update_storesTheLastOfTheValuesAtTheBounds() public {
        uint256[9] memory values = [
            2 ** 206 - 1,
            2 ** 206,
            2 ** 207,
            2 ** 208,
            2 ** 56,
            type(uint256).max << 56,
            type(uint256).max << 55,
            type(uint256).max,
            0
        ];
        for (uint256 i = 0; i < 81; ++i) {
            _assertStored(equal(4, values[i / 9]), values[i / 9]);
            _assertStored(equal(4, values[i % 9]), values[i % 9]);
        }
    }

    /// A new slot is the dearest thing that an update can cause.
    function test_update_writesASecondSlotOnlyForALongValue() public {
        assertEq(_slotsWritten(bytes32(uint256(0))), 1);
        assertEq(_slotsWritten(bytes32(uint256(1))), 1);
        assertEq(_slotsWritten(bytes32(uint256(2 ** 206 - 1))), 1);
        assertEq(_slotsWritten("partly cloudy, some rain."), 1);
        assertEq(_slotsWritten(bytes32(uint256(2 ** 206 + 1))), 2);
        assertEq(_slotsWritten("partly cloudy, some drizzle"), 2);
        assertEq(_slotsWritten(bytes32(uint256(type(uint256).max))), 2);
    }

    /// The tolerance has no effect: a wide one does not make different values equal, a narrow one changes nothing
    /// either.
    function testFuzz_update_ignoresTheTolerance(uint256 toleranceBps, uint128 value) public {
        _committee(4, bound(toleranceBps, 0, 10_000));
        _assertStored(_values(value, value, value, uint256(value) + 1), value);
        Update memory update = _update(15, _values(value, value, uint256(value) + 1, uint256(value) + 1));
        assertEq(update.send(dataset), Oracle.QueryStatus.DISAGREEMENT);
    }

    // ---------------------------------------------------------------- helpers

    function _committee(uint256 size, uint256 toleranceBps) private {
        providers = new Providers(size, toleranceBps);
        dataset = deploy(providers);
    }

    function _update(uint256 signers, uint256[] memory values) private view returns (Update memory update) {
        update = providers.reportFrom(signers, dataset, KEY, vm.getBlockTimestamp(), values);
        (uint256 value,) = ReferenceMajority.mostFrequent(values);
        update.value = bytes32(value);
    }

    /// @dev Uses a new round and the committee's first members.
    function _assertStored(uint256[] memory values, uint256 value) private {
        uint256 round = vm.getBlockTimestamp();
        Update memory update = _update(2 ** values.length - 1, values);
        update.value = bytes32(value);
        vm.expectEmit(address(dataset));
        emit IDataset.Updated(keccak256(KEY), bytes32(value), round, Oracle.QueryStatus.OK);
        assertEq(update.send(dataset), Oracle.QueryStatus.OK);
        assertAnswer(dataset, KEY, bytes32(value), round, Oracle.QueryStatus.OK);
        vm.warp(round + 1);
    }

    function _slotsWritten(bytes32 value) private returns (uint256) {
        vm.record();
        _assertStored(equal(4, uint256(value)), uint256(value));
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        return writes.length;
    }

    function _undecided(uint256 reports, uint256 absentees) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IDataset.Undecided.selector, reports, absentees);
    }

    function _fewValues(uint256 count, uint256 seed) private pure returns (uint256[] memory values) {
        values = new uint256[](count);
        uint256 kinds = 1 + seed % 5;
        for (uint256 i = 0; i < count; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            // Often the first value.
            values[i] = random % 3 == 0 ? 0 : uint256(keccak256(abi.encode(seed, "value", (random >> 8) % kinds)));
        }
    }

    function _values(uint256 a, uint256 b, uint256 c) private pure returns (uint256[] memory values) {
        values = new uint256[](3);
        (values[0], values[1], values[2]) = (a, b, c);
    }

    function _values(uint256 a, uint256 b, uint256 c, uint256 d) private pure returns (uint256[] memory values) {
        values = new uint256[](4);
        (values[0], values[1], values[2], values[3]) = (a, b, c, d);
    }
}
