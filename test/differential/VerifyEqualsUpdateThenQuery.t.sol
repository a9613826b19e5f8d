// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers, Update} from "../utils/Providers.sol";

/// @notice A verification is equivalent to an update and a query: the same answer, or the same error. Every dataset is
/// asked first to verify an update, then to store it. If the same round or a newer one is stored, an update would
/// change nothing; the verification is then compared with the same dataset before anything was stored.
abstract contract VerifyDifferential is DatasetFixture {
    /// @notice Sends updates that are valid, or wrong in one place, before or after others were stored.
    function testFuzz_verify_equalsUpdateThenQuery(uint256 size, uint256 state, uint256 fault, uint256 seed) public {
        size = bound(size, 1, 9);
        _deploy(size);
        _prepare(state % 5, size);
        Update memory update = _update(size, seed);
        _spoil(update, fault % 16, seed);
        assertEquivalent(update.key, update.encode());
    }

    function testFuzz_verifyNotAvailable_equalsUpdateThenQuery(uint256 size, uint256 state, uint256 fault, uint256 seed)
        public
    {
        size = bound(size, 1, 9);
        _deploy(size);
        _prepare(state % 5, size);
        (uint256 signers, uint256 count) = anyQuorum(size, seed);
        Update memory update = providers.reportNoDataFrom(signers, count, dataset, KEY, START);
        _spoil(update, fault % 16, seed);
        assertEquivalent(update.key, update.encodeNotAvailable());
    }

    /// @notice Sends calldata with any byte changed.
    function testFuzz_verify_equalsUpdateThenQueryWhenAByteIsChanged(uint256 place, bytes1 byte_) public {
        empty = vm.snapshotState();
        bytes memory data = validUpdate().encode();
        data[bound(place, 4, data.length - 1)] = byte_;
        assertEquivalent(KEY, data);
    }

    /// @dev The id of the snapshot of the dataset as it is deployed.
    uint256 private empty;

    function assertEquivalent(bytes memory key, bytes memory update) internal {
        bytes memory verification = verificationOf(update);
        vm.recordLogs();
        vm.record();
        (bool isVerified, bytes memory answer) = address(dataset).call{value: PRICE}(verification);
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        assertEq(writes.length, 0, "writes");
        assertEq(vm.getRecordedLogs().length, 0, "events");

        (, uint256 stored,) = query(dataset, KEY);
        if (stored >= _roundOf(update)) _emptyDataset();
        (bool isUpdated, bytes memory reason) = address(dataset).call(update);
        if (_isInvalidKey(reason)) {
            // A verification does not check a key's form. Nobody signed such a key here.
            assertFalse(isVerified);
            return;
        }
        assertEq(isVerified, isUpdated, string(abi.encodePacked("one of them reverted: ", vm.toString(reason))));
        if (!isUpdated) {
            assertEq(answer, reason, "another error");
            return;
        }
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = query(dataset, key);
        assertEq(answer, abi.encode(output, updatedAt, status), "another answer");
    }

    function _deploy(uint256 size) private {
        providers = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(providers);
        empty = vm.snapshotState();
    }

    /// @dev Restores the dataset, but neither the time nor the chain, which a fault may have changed.
    function _emptyDataset() private {
        (uint256 time, uint256 chain) = (vm.getBlockTimestamp(), this.chainId());
        vm.revertToState(empty);
        vm.warp(time);
        vm.chainId(chain);
    }

    /// @notice Without a call, the optimizer may read the chain's id only after the state was restored.
    function chainId() external view returns (uint256) {
        return block.chainid;
    }

    function _roundOf(bytes memory update) private pure returns (uint256 round) {
        assembly ("memory-safe") {
            // Behind the selector, the offset, the length and the kind.
            round := shr(216, mload(add(update, 0x65)))
        }
    }

    function _isInvalidKey(bytes memory reason) private pure returns (bool) {
        return reason.length >= 4 && selector(reason) == IDataset.InvalidKey.selector;
    }

    function _prepare(uint256 state, uint256 size) private {
        if (state == 1) dataset.announce(KEY);
        if (state == 2) providers.report(dataset, KEY, START - 100, equal(size, 77)).send(dataset);
        if (state == 3) providers.reportNoData(dataset, KEY, START - 1, size).sendNotAvailable(dataset);
        if (state == 4) providers.report(dataset, KEY, START, equal(size, 77)).send(dataset);
    }

    /// @dev Some committees agree, others do not.
    function _update(uint256 size, uint256 seed) private view returns (Update memory) {
        (uint256 signers, uint256 count) = anyQuorum(size, seed);
        uint256[] memory values = seed % 3 == 0 ? equal(count, 3000e18) : valuesNear3000(count, seed);
        if (seed % 3 == 2) {
            for (uint256 i = 0; i < count; ++i) {
                values[i] = uint256(keccak256(abi.encode(seed, "value", i))) % (seed % 2 == 0 ? 5 : 1e30);
            }
        }
        return providers.reportFrom(signers, dataset, KEY, START, values);
    }

    function _spoil(Update memory update, uint256 fault, uint256 seed) private {
        uint256 place = uint256(keccak256(abi.encode(seed, "place"))) % update.reports.length;
        if (fault == 1) update.value = bytes32(uint256(update.value) + 1);
        if (fault == 2) update.value = bytes32(uint256(update.value) / 2);
        if (fault == 3) update.value = bytes32(type(uint256).max);
        if (fault == 4) update.toleranceBps += 1;
        if (fault == 5) update.signers ^= 2 ** (seed % 12);
        if (fault == 6) update.reports[place].r = keccak256(abi.encode(seed));
        if (fault == 7) update.reports[place].vs ^= bytes32(uint256(1) << 255);
        if (fault == 8) update.reports[place].content = bytes32(seed);
        if (fault == 9) update.timestamp -= 1;
        if (fault == 10) vm.warp(START - 1);
        if (fault == 11) vm.warp(START + MAX_ROUND_AGE + 1 + seed % 100);
        if (fault == 12) update.key = "SPOTPX/eth-usd";
        if (fault == 13) update.key = "SPOTPX/BTC-USD";
        if (fault == 14) update.absentees = new address[](update.absentees.length + 1);
        if (fault == 15) vm.chainId(seed % 1e9 + 1);
    }
}

/// forge-config: default.fuzz.runs = 150
contract MedianVerifyTest is VerifyDifferential {}

/// forge-config: default.fuzz.runs = 150
contract MajorityVerifyTest is VerifyDifferential {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
