// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Update} from "./utils/UpdateArguments.sol";
import {ReferenceMedian} from "./utils/ReferenceMedian.sol";

contract MedianDatasetTest is DatasetFixture {
    uint256 private constant MAX_VALUE = type(uint208).max;

    // ---------------------------------------------------------------- counting matches sorting

    function testFuzz_update_matchesSorting(uint256 size, uint256 absent, uint16 toleranceBps, uint256 seed) public {
        size = bound(size, 1, 31);
        uint256 signers = size - bound(absent, 0, (size - 1) / 3);
        _committee(size, bound(toleranceBps, 0, 10_000));
        _assertStored(_manyTies(signers, seed));
    }

    /// Neither another signed value, such as the upper middle, nor one beside the median, nor any other.
    function testFuzz_update_RevertWhen_theClaimIsAnotherValue(uint256 size, uint256 seed, uint208 claimed) public {
        size = bound(size, 2, 31);
        _committee(size, TOLERANCE_BPS);
        uint256[] memory values = seed % 2 == 0 ? _manyTies(size, seed) : valuesNear3000(size, seed);
        uint256 median = ReferenceMedian.median(values);
        _refuseClaim(values, median - 1);
        _refuseClaim(values, median + 1);
        if (claimed != median) _refuseClaim(values, claimed);
        for (uint256 i = 0; i < size; ++i) {
            if (values[i] != median) return _refuseClaim(values, values[i]);
        }
    }

    // ---------------------------------------------------------------- the tolerance

    function test_update_agreesExactlyAtTheTolerance() public {
        _assertStatus(_values(10_000, 10_000, 10_100, 10_100), Oracle.QueryStatus.OK);
        // 1 % of 9,999 is 99.99.
        _assertStatus(_values(9999, 9999, 10_098, 10_098), Oracle.QueryStatus.OK);
        _committee(5, TOLERANCE_BPS);
        _assertStatus(_withLowTwo(9900), Oracle.QueryStatus.OK);
    }

    function test_update_disagreesAWeiBeyondTheTolerance() public {
        _assertStatus(_values(10_000, 10_000, 10_101, 10_101), Oracle.QueryStatus.DISAGREEMENT);
        _assertStatus(_values(9999, 9999, 10_099, 10_099), Oracle.QueryStatus.DISAGREEMENT);
        _committee(5, TOLERANCE_BPS);
        _assertStatus(_withLowTwo(9899), Oracle.QueryStatus.DISAGREEMENT);
    }

    function testFuzz_update_agreesByTheDocumentedRule(uint208 median, uint256 other, uint16 toleranceBps) public {
        toleranceBps = uint16(bound(toleranceBps, 0, 10_000));
        // Values around the edge, and arbitrary ones.
        uint256 edge = uint256(median) * toleranceBps / 10_000;
        if (other % 4 == 0) other = median + edge + other % 3;
        else if (other % 4 == 1) other = median - edge;
        else if (other % 4 == 2 && median > edge) other = median - edge - 1;
        _committee(4, toleranceBps);
        uint256[] memory values = _values(median, median, other, other);
        if (other < median) (values[2], values[3]) = (median, other);
        _assertStored(values);
    }

    function test_update_acceptsOutliersUpToTheFaultBound() public {
        uint256[6] memory sizes = [uint256(1), 3, 4, 7, 13, 31];
        for (uint256 i = 0; i < sizes.length; ++i) {
            uint256 faults = (sizes[i] - 1) / 3;
            _committee(sizes[i], TOLERANCE_BPS);
            _assertStatus(_withOutliers(sizes[i], faults), Oracle.QueryStatus.OK);
            if (sizes[i] > 1) _assertStatus(_withOutliers(sizes[i], faults + 1), Oracle.QueryStatus.DISAGREEMENT);
        }
    }

    /// Absent members count in the fault bound, so a relayer cannot leave members out to make agreement stricter.
    function test_update_countsTheAbsentIntoTheFaultBound() public {
        _committee(7, TOLERANCE_BPS);
        _assertStatus(_withOutliers(5, 2), Oracle.QueryStatus.OK);
    }

    function test_update_storesZeroWhenItDisagrees() public {
        Update memory update = providers.report(dataset, KEY, START, _values(1, 2, 3, 4));
        vm.expectEmit(address(dataset));
        emit IDataset.Updated(keccak256(KEY), 0, START, Oracle.QueryStatus.DISAGREEMENT);
        assertEq(update.send(dataset), Oracle.QueryStatus.DISAGREEMENT);
        assertAnswer(dataset, KEY, 0, START, Oracle.QueryStatus.DISAGREEMENT);
    }

    /// The claim is verified whether or not the reports agree.
    function test_update_RevertWhen_theClaimIsWrongAndNobodyAgrees() public {
        _refuseClaim(_values(1, 20, 300, 4000), 300);
    }

    // ---------------------------------------------------------------- the range of values

    function test_update_storesZeroAsAValue() public {
        _assertStatus(equal(4, 0), Oracle.QueryStatus.OK);
        assertAnswer(dataset, KEY, 0, block.timestamp - 1, Oracle.QueryStatus.OK);
    }

    function test_update_storesTheLargestValue() public {
        providers.report(dataset, KEY, START, equal(4, MAX_VALUE)).send(dataset);
        assertAnswer(dataset, KEY, bytes32(MAX_VALUE), START, Oracle.QueryStatus.OK);
        vm.warp(START + 1);
        assertReverts(
            providers.report(dataset, KEY, START + 1, equal(4, MAX_VALUE + 1)),
            abi.encodeWithSelector(IDataset.ValueTooLarge.selector, MAX_VALUE + 1, MAX_VALUE)
        );
    }

    function testFuzz_update_RevertWhen_theMedianIsTooLarge(uint256 value) public {
        value = bound(value, MAX_VALUE + 1, type(uint256).max);
        assertReverts(
            providers.report(dataset, KEY, START, _values(0, value, value, value)),
            abi.encodeWithSelector(IDataset.ValueTooLarge.selector, value, MAX_VALUE)
        );
    }

    // ---------------------------------------------------------------- helpers

    function _committee(uint256 size, uint256 toleranceBps) private {
        providers = new Providers(size, toleranceBps);
        dataset = deploy(providers);
    }

    function _assertStored(uint256[] memory values) private {
        uint256 members = providers.members().length;
        Oracle.QueryStatus status = ReferenceMedian.status(values, providers.toleranceBps(), members);
        Update memory update = providers.report(dataset, KEY, START, values);
        assertEq(update.send(dataset), status);
        bytes32 output = status == Oracle.QueryStatus.OK ? update.value : bytes32(0);
        assertAnswer(dataset, KEY, output, START, status);
    }

    /// @dev Uses a new round.
    function _assertStatus(uint256[] memory values, Oracle.QueryStatus status) private {
        uint256 round = vm.getBlockTimestamp();
        assertEq(providers.report(dataset, KEY, round, values).send(dataset), status);
        vm.warp(round + 1);
    }

    function _refuseClaim(uint256[] memory values, uint256 claimed) private {
        Update memory update = providers.report(dataset, KEY, START, values);
        update.value = bytes32(claimed);
        (uint256 below, uint256 above) = ReferenceMedian.counts(values, claimed);
        assertReverts(update, abi.encodeWithSelector(IDataset.WrongMedian.selector, claimed, below, above));
    }

    function _values(uint256 a, uint256 b, uint256 c, uint256 d) private pure returns (uint256[] memory values) {
        values = new uint256[](4);
        (values[0], values[1], values[2], values[3]) = (a, b, c, d);
    }

    /// @dev Three of five values are 10,000, so that the other two may both lie below the median.
    function _withLowTwo(uint256 low) private pure returns (uint256[] memory values) {
        values = new uint256[](5);
        (values[0], values[1], values[2], values[3], values[4]) = (low, low, 10_000, 10_000, 10_000);
    }

    function _manyTies(uint256 count, uint256 seed) private pure returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            values[i] = 1000 + uint256(keccak256(abi.encode(seed, i))) % (1 + seed % 30);
        }
    }

    /// @dev Puts outliers on both sides.
    function _withOutliers(uint256 count, uint256 outliers) private pure returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            if (i >= outliers) values[i] = 3000e18;
            else values[i] = i % 2 == 0 ? type(uint256).max : 0;
        }
    }
}
