// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle} from "../../src/Oracle.sol";
import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {Providers} from "./Providers.sol";
import {Batch, Update} from "./UpdateArguments.sol";
import {ShownCommitteeHash} from "./ShownCommitteeHash.sol";

/// @notice Sets up a dataset as it is deployed, with the providers that are its committee.
abstract contract DatasetFixture is Test {
    string internal constant MEDIAN = "MedianDataset.sol:MedianDataset";
    string internal constant MAJORITY = "MajorityDataset.sol:MajorityDataset";
    bytes internal constant KEY = "SPOTPX/ETH-USD";
    uint256 internal constant PRICE = 0.001 ether;
    uint256 internal constant PRICE_CEILING = 0.01 ether;
    uint256 internal constant SUBSCRIPTION_PRICE = 0.1 ether;
    uint256 internal constant SUBSCRIPTION_PRICE_CEILING = 1 ether;
    uint256 internal constant MAX_ROUND_AGE = 300;
    uint256 internal constant TOLERANCE_BPS = 100;
    uint256 internal constant START = 1_790_000_000;

    address internal immutable OWNER = makeAddr("owner");

    Providers internal providers;
    IDataset internal dataset;

    function setUp() public virtual {
        vm.warp(START);
        providers = new Providers(4, TOLERANCE_BPS);
        dataset = deploy(providers);
    }

    function deploy(Providers providers_) internal returns (IDataset) {
        return deploy(settings(providers_));
    }

    function deploy(DatasetSettings memory settings_) internal returns (IDataset) {
        return IDataset(deployCode(kind(), abi.encode(settings_)));
    }

    /// @notice Returns what creates a dataset with these settings: its code, then the constructor's argument.
    function creationCode(DatasetSettings memory settings_) internal view returns (bytes memory) {
        return bytes.concat(vm.getCode(kind()), abi.encode(settings_));
    }

    /// @notice Returns the artifact of the dataset under test.
    function kind() internal view virtual returns (string memory) {
        return MEDIAN;
    }

    function settings(Providers providers_) internal view returns (DatasetSettings memory) {
        return DatasetSettings({
            owner: OWNER,
            keyForm: KeyForm.SPOT_PRICE,
            maxRoundAge: MAX_ROUND_AGE,
            priceCeiling: PRICE_CEILING,
            queryPrice: PRICE,
            subscriptionPriceCeiling: SUBSCRIPTION_PRICE_CEILING,
            subscriptionPrice: SUBSCRIPTION_PRICE,
            toleranceBps: providers_.toleranceBps(),
            members: providers_.members()
        });
    }

    /// @notice Returns values near 3,000e18 that differ between providers at least in their last eight digits.
    function valuesNear3000(uint256 count, uint256 seed) internal pure returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            values[i] = 3000e18 + uint256(keccak256(abi.encode(seed, i))) % 1e18;
        }
    }

    /// @notice Returns values that differ, or that are equal if only those agree in this kind of dataset.
    function agreeing(uint256 count, uint256 seed) internal view returns (uint256[] memory values) {
        values = valuesNear3000(count, seed);
        if (keccak256(bytes(kind())) == keccak256(bytes(MAJORITY))) return equal(count, values[0]);
    }

    function equal(uint256 count, uint256 value) internal pure returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            values[i] = value;
        }
    }

    /// @notice Returns any quorum of a committee: a bitmap, and how many bits are set.
    function anyQuorum(uint256 size, uint256 seed) internal pure returns (uint256 signers, uint256 count) {
        signers = 2 ** size - 1;
        count = size;
        for (uint256 i = 0; i < size; ++i) {
            uint256 place = uint256(keccak256(abi.encode(seed, "place", i))) % size;
            bool isLeft = (signers >> place) & 1 == 0;
            if (isLeft || count - 1 <= 2 * (size - count + 1)) continue;
            signers ^= 2 ** place;
            --count;
        }
    }

    /// @notice Returns a valid update: three of the four members report, in the round of the block.
    function validUpdate() internal view returns (Update memory) {
        return providers.report(dataset, KEY, block.timestamp, agreeing(3, 1));
    }

    /// @notice Returns a valid update of "no data".
    function validNoDataUpdate() internal view returns (Update memory) {
        return providers.reportNoData(dataset, KEY, block.timestamp, 3);
    }

    /// @notice Asserts that the update reverts with exactly this error and leaves the key unchanged.
    function assertReverts(Update memory update, bytes memory reason) internal {
        bytes32 before = answerHash(update.key);
        vm.expectRevert(reason);
        update.send(dataset);
        assertEq(answerHash(update.key), before, "a refused update left a trace");
    }

    /// @notice Asserts the same of an update of "no data".
    function assertNoDataReverts(Update memory update, bytes memory reason) internal {
        bytes32 before = answerHash(update.key);
        vm.expectRevert(reason);
        update.sendNotAvailable(dataset);
        assertEq(answerHash(update.key), before, "a refused update left a trace");
    }

    /// @notice Asserts that the dataset takes the update for one of a round that is not newer than the stored one:
    /// it changes nothing and returns the stored status, whatever the update claims.
    function assertStale(Update memory update) internal {
        assertStale(update.key, update.encode());
        assertStale(update.key, update.encodeNotAvailable());
    }

    /// @notice Asserts the same of the calldata of an update of the key.
    function assertStale(bytes memory key, bytes memory data) internal {
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus stored) = query(dataset, key);
        vm.recordLogs();
        vm.record();
        (bool done, bytes memory answer) = address(dataset).call(data);
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        assertTrue(done, "reverted");
        assertEq(answer, abi.encode(stored, false), "answer");
        assertEq(writes.length, 0, "writes");
        assertEq(vm.getRecordedLogs().length, 0, "events");
        assertAnswer(dataset, key, output, updatedAt, stored);
    }

    function wrongCommittee(Update memory update, Oracle.QueryStatus outcome) internal view returns (bytes memory) {
        return abi.encodeWithSelector(
            IDataset.WrongCommittee.selector,
            ShownCommitteeHash.shown(address(dataset), update, outcome),
            dataset.committeeHash()
        );
    }

    function wrongCommittee(Update memory update) internal view returns (bytes memory) {
        return wrongCommittee(update, Oracle.QueryStatus.OK);
    }

    function wrongCommittee(Batch memory batch) internal view returns (bytes memory) {
        return abi.encodeWithSelector(
            IDataset.WrongCommittee.selector, ShownCommitteeHash.shown(address(dataset), batch), dataset.committeeHash()
        );
    }

    /// @notice Returns the calldata that verifies an update, from the calldata of the update. The key is not checked.
    function verificationOf(bytes memory update) internal pure returns (bytes memory verification) {
        bool hasValue = selector(update) == IDataset.update.selector;
        bytes4 selector_ = hasValue ? IDataset.verify.selector : IDataset.verifyNotAvailable.selector;
        verification = bytes.concat(update);
        for (uint256 i = 0; i < 4; ++i) {
            verification[i] = selector_[i];
        }
    }

    /// @notice Calls the dataset, and returns false if it reverts.
    function succeeds(bytes memory data) internal returns (bool done) {
        (done,) = address(dataset).call(data);
    }

    /// @notice Sends the calldata of an update.
    /// @return stored False if the update reverts, or changes nothing because its round is not newer than the stored
    /// one.
    function stores(bytes memory data) internal returns (bool stored) {
        (bool done, bytes memory answer) = address(dataset).call(data);
        if (done) (, stored) = abi.decode(answer, (Oracle.QueryStatus, bool));
    }

    /// @notice Returns the first four bytes, padded with zeros.
    function selector(bytes memory data) internal pure returns (bytes4) {
        // forge-lint: disable-next-line(unsafe-typecast)
        return bytes4(data);
    }

    /// @notice Returns all that a query answers, hashed to one word.
    function answerHash(bytes memory key) internal returns (bytes32) {
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = query(dataset, key);
        return keccak256(abi.encode(output, updatedAt, status));
    }

    function query(IDataset target, bytes memory key) internal returns (bytes32, uint256, Oracle.QueryStatus) {
        return target.query{value: target.queryPrice()}(key);
    }

    function assertAnswer(
        IDataset target,
        bytes memory key,
        bytes32 output,
        uint256 updatedAt,
        Oracle.QueryStatus status
    ) internal {
        (bytes32 output_, uint256 updatedAt_, Oracle.QueryStatus status_) = query(target, key);
        assertEq(output_, output, "output");
        assertEq(updatedAt_, updatedAt, "updatedAt");
        assertEq(status_, status);
    }

    function assertEq(Oracle.QueryStatus left, Oracle.QueryStatus right) internal pure {
        assertEq(uint256(left), uint256(right), "status");
    }
}
