// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Vm} from "forge-std/Vm.sol";

import {DatasetSettings, IDataset, Statement} from "../src/interfaces/IDataset.sol";
import {ICommitteeDirectory} from "../src/interfaces/ICommitteeDirectory.sol";
import {IWebOracleRegistry} from "../src/interfaces/IWebOracleRegistry.sol";
import {Oracle} from "../src/Oracle.sol";
import {PythAdapter} from "../src/adapters/PythAdapter.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {ReferenceAnnouncements} from "./utils/ReferenceAnnouncements.sol";
import {Report} from "./utils/UpdateArguments.sol";

/// @notice Each operation creates as many storage slots as docs/Gas.md says, which are what it costs most by. Updates of
/// majority datasets are in MajorityDataset.t.sol.
contract NewSlotsTest is DatasetFixture {
    address private immutable READER = makeAddr("reader");

    uint256 private _recording;
    mapping(bytes32 id => bool) private _isCreated;

    function test_update_createsASlotForANewKeyOnly() public {
        _record();
        validUpdate().send(dataset);
        _assertCreated(1);
        vm.warp(START + 1);
        _record();
        validUpdate().send(dataset);
        _assertCreated(0);
    }

    function test_announce_createsASlotThatTheFirstUpdateNeedsNoMore() public {
        _record();
        dataset.announce(KEY);
        _assertCreated(1);
        _record();
        validUpdate().send(dataset);
        _assertCreated(0);
    }

    function test_query_createsNoSlot() public {
        validUpdate().send(dataset);
        _record();
        query(dataset, KEY);
        _assertCreated(0);
    }

    function test_subscribe_createsASlotForANewReaderOnly() public {
        for (uint256 i = 0; i < 2; ++i) {
            _record();
            dataset.subscribe{value: SUBSCRIPTION_PRICE}(READER, 1);
            _assertCreated(i == 0 ? 1 : 0);
        }
    }

    function test_shareIncome_createsASlotForAMemberThatRefusesItsFirstShare() public {
        address member = providers.members()[0];
        // INVALID, so that it takes no Ether.
        vm.etch(member, hex"fe");
        for (uint256 i = 0; i < 3; ++i) {
            if (i == 2) {
                vm.prank(member);
                dataset.claimShares(READER);
            }
            vm.deal(address(dataset), address(dataset).balance + 4 ether);
            _record();
            _share();
            _assertCreated(i == 1 ? 0 : 1);
        }
    }

    function test_setCommittee_createsASlotForUnsharedIncome() public {
        Providers next = new Providers(5, TOLERANCE_BPS);
        for (uint256 i = 0; i < 2; ++i) {
            vm.deal(address(dataset), i * 1 ether);
            address[] memory members = i == 0 ? next.members() : providers.members();
            _record();
            vm.prank(OWNER);
            dataset.setCommittee(members, TOLERANCE_BPS);
            _assertCreated(i);
        }
        _record();
        dataset.shareIncome(next.members(), TOLERANCE_BPS);
        _assertCreated(0);
    }

    function test_accuse_createsNoSlot() public {
        Providers committee = new Providers(5, TOLERANCE_BPS);
        dataset = deploy(committee);
        vm.deal(address(dataset), 5 ether);
        vm.warp(START + 1);
        (Statement memory a, Statement memory b) = (_said(committee, 1), _said(committee, 2));
        address[] memory members = committee.members();
        _record();
        vm.prank(READER);
        dataset.accuse(keccak256(KEY), START + 1, a, b, members, TOLERANCE_BPS);
        _assertCreated(0);
    }

    function test_transferOwnership_createsASlotForTheOffer() public {
        Ownable2Step ownable = Ownable2Step(address(dataset));
        _record();
        vm.prank(OWNER);
        ownable.transferOwnership(READER);
        _assertCreated(1);
        _record();
        vm.prank(READER);
        ownable.acceptOwnership();
        _assertCreated(0);
    }

    function test_setPrices_createsASlotForASubscriptionPriceAfterNoneOnly() public {
        uint256[3] memory prices = [SUBSCRIPTION_PRICE / 2, 0, SUBSCRIPTION_PRICE];
        for (uint256 i = 0; i < prices.length; ++i) {
            _record();
            vm.startPrank(OWNER);
            dataset.setSubscriptionPrice(prices[i]);
            dataset.setQueryPrice(i);
            vm.stopPrank();
            _assertCreated(i == 2 ? 1 : 0);
        }
    }

    function test_constructor_createsThreeSlotsAndOneForAPriceOfSubscriptions() public {
        DatasetSettings memory settings_ = settings(providers);
        _record();
        deploy(settings_);
        _assertCreated(4);
        (settings_.queryPrice, settings_.subscriptionPrice) = (0, 0);
        _record();
        deploy(settings_);
        _assertCreated(3);
    }

    function test_announceUrl_createsTwoSlotsOrMoreForALongUrl() public {
        ICommitteeDirectory directory = ICommitteeDirectory(deployCode("CommitteeDirectory.sol:CommitteeDirectory"));
        uint256[4] memory lengths = [uint256(31), 32, 64, 65];
        for (uint256 i = 0; i < lengths.length; ++i) {
            (address provider, uint256 key) = makeAddrAndKey(vm.toString(i));
            string memory url = string(_text(lengths[i]));
            bytes32 digest = ReferenceAnnouncements.digest(address(directory), provider, url, START);
            (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
            _record();
            directory.announce(provider, url, START, abi.encodePacked(r, s, v));
            _assertCreated(2 + i);
        }
    }

    function test_publish_createsASlot() public {
        IWebOracleRegistry registry = IWebOracleRegistry(deployCode("WebOracleRegistry.sol:WebOracleRegistry"));
        _record();
        registry.publish("{}");
        _assertCreated(1);
    }

    function test_list_createsASlotOrMoreForALongKey() public {
        bytes memory arguments = abi.encode(dataset, int32(-8), uint256(100));
        PythAdapter adapter = PythAdapter(payable(deployCode("PythAdapter.sol:PythAdapter", arguments)));
        uint256[4] memory lengths = [uint256(31), 32, 64, 65];
        for (uint256 i = 0; i < lengths.length; ++i) {
            _record();
            adapter.list(_text(lengths[i]));
            _assertCreated(1 + i);
        }
    }

    function _said(Providers committee, uint256 value) private view returns (Statement memory) {
        Report memory report = committee.sign(dataset, KEY, Oracle.QueryStatus.OK, START + 1, value, 1);
        bytes32[] memory values = new bytes32[](1);
        values[0] = report.content;
        return Statement(uint256(Oracle.QueryStatus.OK), new bytes32[](0), values, 0, report.r, report.vs);
    }

    function _text(uint256 length) private pure returns (bytes memory text) {
        text = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            text[i] = "a";
        }
    }

    function _share() private {
        dataset.shareIncome(providers.members(), TOLERANCE_BPS);
    }

    function _record() private {
        ++_recording;
        vm.startStateDiffRecording();
    }

    /// @dev A slot that is empty again at the end does not count.
    function _assertCreated(uint256 expected) private {
        Vm.AccountAccess[] memory accesses = vm.stopAndReturnStateDiff();
        uint256 created = 0;
        for (uint256 i = 0; i < accesses.length; ++i) {
            Vm.StorageAccess[] memory slots = accesses[i].storageAccesses;
            for (uint256 j = 0; j < slots.length; ++j) {
                bool isCreated = slots[j].isWrite && slots[j].previousValue == 0 && slots[j].newValue != 0;
                bool isEmptied = slots[j].isWrite && slots[j].previousValue != 0 && slots[j].newValue == 0;
                bytes32 id = keccak256(abi.encode(_recording, slots[j].account, slots[j].slot));
                if (isCreated) ++created;
                else if (isEmptied && _isCreated[id]) --created;
                if (isCreated || isEmptied) _isCreated[id] = isCreated;
            }
        }
        assertEq(created, expected);
    }
}
