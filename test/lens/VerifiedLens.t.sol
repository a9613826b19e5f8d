// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {IUpdateGateway} from "../../src/interfaces/IUpdateGateway.sol";
import {UpdateCalldata} from "../../src/libraries/UpdateCalldata.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers, Update} from "../utils/Providers.sol";
import {RevertForwardingDeployer} from "../utils/RevertForwardingDeployer.sol";

interface IVerifiedLens {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
    error CallNamesSender(address sender);
    error TooOld(uint256 age, uint256 maxAge);
    error NotADataset(IDataset dataset);
    error NoGateways();

    function gateways() external view returns (string[] memory);
    function read(IDataset dataset, bytes calldata key, uint256 maxAge)
        external
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status);
    function readCallback(bytes calldata response, bytes calldata extraData)
        external
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status);
}

contract VerifiedLensTest is DatasetFixture {
    uint256 private constant MAX_AGE = 60;

    IVerifiedLens private lens;

    function setUp() public override {
        super.setUp();
        lens = lensOf(1);
    }

    // ---------------------------------------------------------------- the stored value

    function testFuzz_read_answersWhatIsStoredUntilItIsTooOld(uint256 age) public {
        age = bound(age, 0, MAX_AGE);
        Update memory update = validUpdate();
        update.send(dataset);
        skip(age);
        assertReads(MAX_AGE, update.value, START, Oracle.QueryStatus.OK);
    }

    function test_read_answersAStoredLackOfData() public {
        validNoDataUpdate().sendNotAvailable(dataset);
        assertReads(MAX_AGE, 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function testFuzz_read_RevertWhen_theStoredValueIsTooOld(uint256 age, uint256 maxAge) public {
        age = bound(age, 1, 10 * 365 days);
        maxAge = bound(maxAge, 0, age - 1);
        validUpdate().send(dataset);
        skip(age);
        expectLookup(KEY, maxAge, 0);
        lens.read(dataset, KEY, maxAge);
    }

    function testFuzz_read_RevertWhen_nothingIsStored(uint256 maxAge) public {
        maxAge = bound(maxAge, 0, START - 1);
        expectLookup(KEY, maxAge, 0);
        lens.read(dataset, KEY, maxAge);
    }

    // ---------------------------------------------------------------- the update of a gateway

    function testFuzz_readCallback_answersWhatUpdateAndQueryWould(uint256 size, uint256 seed, uint256 age) public {
        providers = new Providers(bound(size, 1, 12), TOLERANCE_BPS);
        dataset = deploy(providers);
        (uint256 signers, uint256 count) = anyQuorum(providers.members().length, seed);
        uint256[] memory values = valuesNear3000(count, seed);
        // Every other time they disagree.
        for (uint256 i = 0; i < count && seed % 2 == 1; ++i) {
            values[i] *= i + 1;
        }
        Update memory update = providers.reportFrom(signers, dataset, KEY, START, values);
        skip(bound(age, 0, MAX_AGE));

        asCall();
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) =
            lens.readCallback(update.pack(), abi.encode(dataset, KEY, MAX_AGE, 0));

        update.send(dataset);
        assertAnswer(dataset, KEY, output, updatedAt, status);
        assertEq(updatedAt, START);
    }

    function test_readCallback_RevertWhen_theRoundIsTooOld() public {
        bytes memory response = validUpdate().pack();
        skip(MAX_AGE + 1);
        asCall(abi.encodeWithSelector(IVerifiedLens.TooOld.selector, MAX_AGE + 1, MAX_AGE));
        lens.readCallback(response, abi.encode(dataset, KEY, MAX_AGE, 0));
    }

    function test_readCallback_RevertWhen_theUpdateIsOfAnotherKey() public {
        bytes memory other = "SPOTPX/BTC-USD";
        Update memory update = providers.report(dataset, other, START, valuesNear3000(3, 1));
        asCall(abi.encodeWithSelector(UpdateCalldata.UpdateOfAnotherKey.selector, other, KEY));
        lens.readCallback(update.pack(), abi.encode(dataset, KEY, MAX_AGE, 0));
    }

    function testFuzz_readCallback_RevertWhen_theResponseIsNoUpdate(bytes memory response) public {
        uint256 kind = response.length == 0 ? 0 : uint8(response[0]);
        vm.assume(kind != 1 && kind != 2);
        asCall(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, kind));
        lens.readCallback(response, abi.encode(dataset, KEY, MAX_AGE, 0));
    }

    function testFuzz_readCallback_RevertWhen_anyBitIsAltered(uint256 place, uint8 bit, bool isNoData) public {
        bytes memory response = isNoData ? validNoDataUpdate().packNotAvailable() : validUpdate().pack();
        place = bound(place, 0, response.length - 1);
        response[place] ^= bytes1(uint8(1) << (bit % 8));
        asCall();
        (bool isDone, bytes memory reason) =
            address(lens).call(abi.encodeCall(lens.readCallback, (response, abi.encode(dataset, KEY, MAX_AGE, 0))));
        assertFalse(isDone);
        // Each has a named error of its own.
        assertGe(reason.length, 4);
        assertNotEq(selector(reason), bytes4(keccak256("Panic(uint256)")));
    }

    /// @dev A gateway that lies cannot keep a client from the others.
    function test_readCallback_asksTheOtherGatewaysAfterAResponseThatProvesNothing() public {
        lens = lensOf(3);
        Update memory other = providers.report(dataset, "SPOTPX/BTC-USD", START, valuesNear3000(3, 1));
        for (uint256 skipped = 1; skipped < 3; ++skipped) {
            expectLookup(KEY, MAX_AGE, skipped);
            lens.readCallback(other.pack(), abi.encode(dataset, KEY, MAX_AGE, skipped - 1));
        }
        asCall(abi.encodeWithSelector(UpdateCalldata.UpdateOfAnotherKey.selector, other.key, KEY));
        lens.readCallback(other.pack(), abi.encode(dataset, KEY, MAX_AGE, 2));
    }

    // ---------------------------------------------------------------- callers

    function testFuzz_read_RevertWhen_theCallNamesASender(address sender) public {
        vm.assume(sender != address(0));
        validUpdate().send(dataset);
        bytes memory reason = abi.encodeWithSelector(IVerifiedLens.CallNamesSender.selector, sender);
        vm.prank(sender, sender);
        vm.expectRevert(reason);
        lens.read(dataset, KEY, MAX_AGE);
        bytes memory response = providers.report(dataset, KEY, START, valuesNear3000(3, 2)).pack();
        vm.prank(sender, sender);
        vm.expectRevert(reason);
        lens.readCallback(response, abi.encode(dataset, KEY, MAX_AGE, 0));
    }

    function test_read_answersATransactionWhileTheLensIsSubscribed() public {
        Update memory update = validUpdate();
        update.send(dataset);
        dataset.subscribe{value: SUBSCRIPTION_PRICE}(address(lens), 1);
        (bytes32 output,,) = lens.read(dataset, KEY, MAX_AGE);
        assertEq(output, update.value);
        (output,,) = lens.readCallback(update.pack(), abi.encode(dataset, KEY, MAX_AGE, 0));
        assertEq(output, update.value);
    }

    function test_read_RevertWhen_theAddressIsNoDataset() public {
        IDataset nobody = IDataset(makeAddr("nobody"));
        asCall(abi.encodeWithSelector(IVerifiedLens.NotADataset.selector, nobody));
        lens.read(nobody, KEY, MAX_AGE);
    }

    function test_constructor_RevertWhen_thereIsNoGateway() public {
        RevertForwardingDeployer deployer = new RevertForwardingDeployer();
        bytes memory code = vm.getCode("VerifiedLens.sol:VerifiedLens");
        vm.expectRevert(IVerifiedLens.NoGateways.selector);
        deployer.deploy(bytes.concat(code, abi.encode(new string[](0))));
    }

    // ---------------------------------------------------------------- helpers

    /// @dev The next call has no sender, as an `eth_call` without `from` has none.
    function asCall() private {
        vm.prank(address(0), address(0));
    }

    function asCall(bytes memory reason) private {
        asCall();
        vm.expectRevert(reason);
    }

    function lensOf(uint256 gateways) private returns (IVerifiedLens) {
        string[] memory urls = new string[](gateways);
        for (uint256 i = 0; i < gateways; ++i) {
            urls[i] = string.concat("https://", vm.toString(i), ".example/{sender}/{data}");
        }
        return IVerifiedLens(deployCode("VerifiedLens.sol:VerifiedLens", abi.encode(urls)));
    }

    /// @dev The next call must ask the gateways that are left when the first ones are skipped.
    function expectLookup(bytes memory key, uint256 maxAge, uint256 skipped) private {
        string[] memory all = lens.gateways();
        string[] memory urls = new string[](all.length - skipped);
        for (uint256 i = 0; i < urls.length; ++i) {
            urls[i] = all[skipped + i];
        }
        asCall(
            abi.encodeWithSelector(
                IVerifiedLens.OffchainLookup.selector,
                address(lens),
                urls,
                abi.encodeCall(IUpdateGateway.fetchUpdate, (dataset, key)),
                IVerifiedLens.readCallback.selector,
                abi.encode(dataset, key, maxAge, skipped)
            )
        );
    }

    function assertReads(uint256 maxAge, bytes32 value, uint256 time, Oracle.QueryStatus expected) private {
        asCall();
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = lens.read(dataset, KEY, maxAge);
        assertEq(output, value);
        assertEq(updatedAt, time);
        assertEq(status, expected);
    }
}
