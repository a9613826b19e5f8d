// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {CommonBase} from "forge-std/Base.sol";
import {StdUtils} from "forge-std/StdUtils.sol";

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Providers, Update} from "../utils/Providers.sol";

/// @notice What anyone may do to a dataset, in any order: carry honest and dishonest updates, query, govern, wait.
/// It keeps what it saw; the invariants judge it.
contract DatasetHandler is CommonBase, StdUtils {
    /// @dev Of committees of 7 and of 8.
    uint256 private constant FAULTS = 2;

    IDataset public immutable dataset;
    address public immutable owner;
    bytes[] public keys;

    // What was seen.
    uint256 public paid;
    bytes32 public committeeHash;
    uint256 public queryPrice;
    uint256 public stored;
    uint256 public oldestAge;
    uint256 public refused;
    mapping(bytes key => uint256) public newest;
    mapping(bytes key => uint256) public lowestHonest;
    mapping(bytes key => uint256) public highestHonest;

    Providers[2] private _committees;
    uint256 private _seated;

    constructor(IDataset dataset_, address owner_, Providers first, Providers second) {
        (dataset, owner) = (dataset_, owner_);
        _committees = [first, second];
        (committeeHash, queryPrice) = (dataset_.committeeHash(), dataset_.queryPrice());
        keys.push("SPOTPX/ETH-USD");
        keys.push("SPOTPX/BTC-USD");
        keys.push("SPOTPX/BTC-EUR");
    }

    receive() external payable {}

    /// @notice Honest members report about one value, and up to f liars whatever they like; the carrier picks a quorum.
    function carryUpdate(uint256 keySeed, uint256 round, uint256 absent, uint256 honest, uint256 spread, uint256 lie)
        external
    {
        bytes memory key = keys[keySeed % keys.length];
        honest = bound(honest, 0, type(uint200).max);
        spread = bound(spread, 0, honest / 50);
        uint256 signers = _members() - bound(absent, 0, FAULTS);
        uint256[] memory values = new uint256[](signers);
        for (uint256 i = 0; i < signers; ++i) {
            values[i] = honest + uint256(keccak256(abi.encode(lie, i))) % (spread + 1);
        }
        uint256 liars = lie % (FAULTS + 1);
        for (uint256 i = 0; i < liars; ++i) {
            values[uint256(keccak256(abi.encode(lie, "place", i))) % signers] = i % 2 == 0 ? lie : lie % 3;
        }
        Update memory update = _committees[_seated].report(dataset, key, _round(key, round), values);
        try dataset.update(
            key, update.timestamp, update.value, update.signers, update.reports, update.absentees, update.toleranceBps
        ) {
            _see(update);
            (lowestHonest[key], highestHonest[key]) = (honest, honest + spread);
        } catch {
            ++refused;
        }
    }

    function carryNoData(uint256 keySeed, uint256 round) external {
        bytes memory key = keys[keySeed % keys.length];
        Update memory update = _committees[_seated].reportNoData(dataset, key, _round(key, round), _members() - FAULTS);
        try dataset.updateNotAvailable(
            key, update.timestamp, update.signers, update.reports, update.absentees, update.toleranceBps
        ) {
            _see(update);
        } catch {
            ++refused;
        }
    }

    /// @notice None of these may ever pass: what passes breaks an invariant.
    function carryForgery(uint256 keySeed, uint256 kind, uint256 seed) external {
        bytes memory key = keys[keySeed % keys.length];
        uint256[] memory values = new uint256[](6);
        Update memory update = _committees[_seated].report(dataset, key, block.timestamp, values);
        kind %= 7;
        if (kind == 0) update.reports[seed % 6].content = bytes32(seed | 1);
        if (kind == 1) update.reports[seed % 6] = update.reports[(seed + 1) % 6];
        if (kind == 2) update.value = bytes32(seed | 1);
        if (kind == 3) update.toleranceBps = seed | 1 << 255;
        if (kind == 4) update.absentees[0] = address(bytes20(bytes32(seed)));
        if (kind == 5) update = _committees[1 - _seated].report(dataset, key, block.timestamp, values);
        if (kind == 6) update.timestamp = newest[key];
        // If it passes, the invariants see a round that nobody has told them of.
        update.send(dataset);
    }

    function query(uint256 keySeed, uint256 count) external {
        count = bound(count, 1, 3);
        uint256 price = dataset.queryPrice();
        for (uint256 i = 0; i < count; ++i) {
            dataset.query{value: price}(keys[keySeed % keys.length]);
            paid += price;
        }
    }

    function queryForAnotherAmount(uint256 amount) external {
        amount = bound(amount, 0, 1 ether);
        if (amount == dataset.queryPrice()) return;
        dataset.query{value: amount}(keys[0]);
    }

    function setQueryPrice(uint256 price) external {
        price = bound(price, 0, 2 * dataset.priceCeiling());
        vm.prank(owner);
        dataset.setQueryPrice(price);
        queryPrice = price;
    }

    function changeCommittee() external {
        _seated = 1 - _seated;
        Providers next = _committees[_seated];
        address[] memory members = next.members();
        uint256 toleranceBps = next.toleranceBps();
        vm.prank(owner);
        dataset.setCommittee(members, toleranceBps);
        committeeHash = keccak256(abi.encodePacked(toleranceBps, members));
    }

    function usurp(address caller, uint256 price) external {
        if (caller == owner) return;
        price = bound(price, 0, dataset.priceCeiling());
        vm.startPrank(caller);
        address[] memory members = new address[](1);
        members[0] = caller;
        // Whether it is refused is for the invariants to see: who is not the owner leaves no trace.
        try dataset.setCommittee(members, 0) {} catch {}
        try dataset.setQueryPrice(price) {} catch {}
        vm.stopPrank();
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 0, 400));
    }

    /// @dev Mostly a round that passes; at times an older one, one that expired, or one to come.
    function _round(bytes memory key, uint256 seed) private view returns (uint256) {
        if (seed % 8 == 0) return newest[key];
        if (seed % 8 == 1) return block.timestamp + 1 + seed % 100;
        return block.timestamp - seed % 310;
    }

    function _members() private view returns (uint256) {
        return _committees[_seated].members().length;
    }

    function _see(Update memory update) private {
        if (block.timestamp - update.timestamp > oldestAge) oldestAge = block.timestamp - update.timestamp;
        if (update.timestamp > newest[update.key]) newest[update.key] = update.timestamp;
        ++stored;
    }
}
