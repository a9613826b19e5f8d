// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

import {Oracle} from "../src/Oracle.sol";
import {DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {KeyForm} from "../src/types/KeyForm.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {RevertForwardingDeployer} from "./utils/RevertForwardingDeployer.sol";
import {Providers} from "./utils/Providers.sol";

contract DatasetGovernanceTest is DatasetFixture {
    RevertForwardingDeployer private deployer;
    Ownable2Step private ownable;

    function setUp() public override {
        super.setUp();
        deployer = new RevertForwardingDeployer();
        ownable = Ownable2Step(address(dataset));
    }

    // ---------------------------------------------------------------- deployment

    function test_constructor_emitsWhatItSets() public {
        DatasetSettings memory settings_ = settings(providers);
        vm.expectEmit();
        emit IDataset.CommitteeChanged(settings_.members, TOLERANCE_BPS);
        vm.expectEmit();
        emit IDataset.QueryPriceChanged(PRICE);
        deployer.deploy(creationCode(settings_));
    }

    function test_constructor_RevertWhen_thePriceIsAboveTheCeiling() public {
        DatasetSettings memory settings_ = settings(providers);
        settings_.queryPrice = PRICE_CEILING + 1;
        vm.expectRevert(abi.encodeWithSelector(IDataset.PriceAboveCeiling.selector, PRICE_CEILING + 1, PRICE_CEILING));
        deployer.deploy(creationCode(settings_));
        settings_ = settings(providers);
        uint256 price = SUBSCRIPTION_PRICE_CEILING + 1;
        settings_.subscriptionPrice = price;
        vm.expectRevert(abi.encodeWithSelector(IDataset.PriceAboveCeiling.selector, price, price - 1));
        deployer.deploy(creationCode(settings_));
    }

    function test_constructor_RevertWhen_theCeilingIsTooHigh() public {
        DatasetSettings memory settings_ = settings(providers);
        uint256 most = type(uint72).max;
        settings_.priceCeiling = most;
        settings_.queryPrice = most;
        assertEq(Oracle(deployer.deploy(creationCode(settings_))).queryPrice(), most);
        settings_.priceCeiling = most + 1;
        vm.expectRevert(abi.encodeWithSelector(IDataset.PriceAboveCeiling.selector, most + 1, most));
        deployer.deploy(creationCode(settings_));
    }

    function test_constructor_RevertWhen_theToleranceIsTooHigh() public {
        DatasetSettings memory settings_ = settings(providers);
        settings_.toleranceBps = 10_001;
        vm.expectRevert(abi.encodeWithSelector(IDataset.ToleranceTooHigh.selector, 10_001, 10_000));
        deployer.deploy(creationCode(settings_));
    }

    function test_constructor_keepsItsSettings() public view {
        assertEq(ownable.owner(), OWNER);
        assertEq(dataset.queryPrice(), PRICE);
        assertEq(dataset.priceCeiling(), PRICE_CEILING);
        (uint256 price, uint256 period, uint256 ceiling) = dataset.costOfSubscription();
        assertEq(price, SUBSCRIPTION_PRICE);
        assertEq(period, 30 days);
        assertEq(ceiling, SUBSCRIPTION_PRICE_CEILING);
        assertEq(dataset.maxRoundAge(), MAX_ROUND_AGE);
        assertEq(uint256(dataset.keyForm()), uint256(KeyForm.SPOT_PRICE));
        assertEq(dataset.committeeHash(), _hash(providers.members(), TOLERANCE_BPS));
        assertEq(dataset.committeeBlock(), block.number);
    }

    // ---------------------------------------------------------------- the owner's functions

    function testFuzz_setters_RevertWhen_calledByAnyoneElse(address caller) public {
        vm.assume(caller != OWNER);
        bytes[4] memory calls = [
            abi.encodeCall(IDataset.setQueryPrice, (0)),
            abi.encodeCall(IDataset.setSubscriptionPrice, (0)),
            abi.encodeCall(IDataset.setCommittee, (_ascending(4), TOLERANCE_BPS)),
            abi.encodeCall(Ownable2Step.transferOwnership, (caller))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.prank(caller);
            (bool isDone, bytes memory reason) = address(dataset).call(calls[i]);
            assertFalse(isDone);
            assertEq(reason, _unauthorized(caller));
        }
    }

    // ---------------------------------------------------------------- the price

    function testFuzz_setQueryPrice_setsAndEmits(uint256 price) public {
        price = bound(price, 0, PRICE_CEILING);
        vm.expectEmit(address(dataset));
        emit IDataset.QueryPriceChanged(price);
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
        assertEq(dataset.queryPrice(), price);
    }

    function testFuzz_setQueryPrice_RevertWhen_aboveTheCeiling(uint256 price) public {
        price = bound(price, PRICE_CEILING + 1, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(IDataset.PriceAboveCeiling.selector, price, PRICE_CEILING));
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
    }

    // ---------------------------------------------------------------- the committee

    function testFuzz_setCommittee_setsAndEmits(uint256 size, uint256 toleranceBps, uint40 blockNumber) public {
        Providers next = new Providers(bound(size, 1, 31), bound(toleranceBps, 0, 10_000));
        address[] memory members = next.members();
        toleranceBps = next.toleranceBps();
        vm.roll(blockNumber);
        vm.expectEmit(address(dataset));
        emit IDataset.CommitteeChanged(members, toleranceBps);
        vm.prank(OWNER);
        dataset.setCommittee(members, toleranceBps);
        assertEq(dataset.committeeHash(), _hash(members, toleranceBps));
        assertEq(dataset.committeeBlock(), blockNumber);
    }

    function test_setCommittee_accepts1And255Members() public {
        _setCommittee(_ascending(1), 0);
        _setCommittee(_ascending(255), 10_000);
        assertEq(dataset.committeeHash(), _hash(_ascending(255), 10_000));
    }

    function test_setCommittee_RevertWhen_itHasNoneOr256Members() public {
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongCommitteeSize.selector, 0, 255));
        _setCommittee(new address[](0), TOLERANCE_BPS);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongCommitteeSize.selector, 256, 255));
        _setCommittee(_ascending(256), TOLERANCE_BPS);
    }

    function test_setCommittee_RevertWhen_aMemberIsZero() public {
        address[] memory members = _ascending(3);
        members[0] = address(0);
        vm.expectRevert(abi.encodeWithSelector(IDataset.UnsortedCommittee.selector, address(0), address(0)));
        _setCommittee(members, TOLERANCE_BPS);
    }

    function testFuzz_setCommittee_RevertWhen_unsortedOrNamedTwice(uint256 place, bool isTwice) public {
        address[] memory members = _ascending(9);
        place = bound(place, 1, 8);
        if (isTwice) members[place] = members[place - 1];
        (members[place], members[place - 1]) = (members[place - 1], members[place]);
        vm.expectRevert(abi.encodeWithSelector(IDataset.UnsortedCommittee.selector, members[place - 1], members[place]));
        _setCommittee(members, TOLERANCE_BPS);
    }

    function testFuzz_setCommittee_RevertWhen_theToleranceIsTooHigh(uint256 toleranceBps) public {
        toleranceBps = bound(toleranceBps, 10_001, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(IDataset.ToleranceTooHigh.selector, toleranceBps, 10_000));
        _setCommittee(_ascending(4), toleranceBps);
    }

    // ---------------------------------------------------------------- ownership, in two steps

    function test_transferOwnership_waitsForTheNewOwner() public {
        address next = makeAddr("next owner");
        vm.prank(OWNER);
        ownable.transferOwnership(next);
        assertEq(ownable.owner(), OWNER);

        vm.expectRevert(_unauthorized(next));
        vm.prank(next);
        dataset.setQueryPrice(0);

        vm.prank(next);
        ownable.acceptOwnership();
        assertEq(ownable.owner(), next);

        vm.expectRevert(_unauthorized(OWNER));
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
    }

    // ---------------------------------------------------------------- helpers

    function _setCommittee(address[] memory members, uint256 toleranceBps) private {
        vm.prank(OWNER);
        dataset.setCommittee(members, toleranceBps);
    }

    function _hash(address[] memory members, uint256 toleranceBps) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(toleranceBps, members));
    }

    function _unauthorized(address caller) private pure returns (bytes memory) {
        return abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, caller);
    }

    function _ascending(uint256 count) private pure returns (address[] memory members) {
        members = new address[](count);
        for (uint256 i = 0; i < count; ++i) {
            members[i] = address(bytes20(bytes32((0x1000 + i) << 96)));
        }
    }
}

contract MajorityGovernanceTest is DatasetGovernanceTest {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
