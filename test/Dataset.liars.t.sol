// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {Quorum} from "../src/libraries/Quorum.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Update} from "./utils/UpdateArguments.sol";
import {ReferenceMajority} from "./utils/ReferenceMajority.sol";

/// @notice f = (n - 1) / 3 liars sit anywhere in a committee of n and sign whatever serves them. The relayer is one of
/// them and picks any quorum. These tests show what they still cannot do.
/// @dev The relayer may also leave liars out, which covers liars that do not sign.
abstract contract DatasetLiars is DatasetFixture {
    uint256[5] private SIZES = [4, 5, 7, 13, 31];

    uint256 internal members;
    uint256 internal faults;

    /// @notice A bitmap of the liars in the committee.
    uint256 internal liars;

    /// @dev Sets up a committee of one of the sizes, and its liars.
    function _seatLiars(uint256 size, uint256 seed) internal {
        members = SIZES[size % 5];
        faults = Quorum.faultBound(members);
        liars = 0;
        for (uint256 left = faults; left > 0; --left) {
            uint256 place = uint256(keccak256(abi.encode(seed, "liar", left))) % members;
            while ((liars >> place) & 1 == 1) place = (place + 1) % members;
            liars |= 2 ** place;
        }
        providers = new Providers(members, TOLERANCE_BPS);
        dataset = deploy(providers);
    }

    /// @dev Returns the quorum that helps the liars most, with all of them in it; or any quorum.
    function _pickQuorum(uint256 seed) internal view returns (uint256 signers, uint256 count) {
        if (seed % 4 == 0) return anyQuorum(members, seed);
        (signers, count) = (2 ** members - 1, members);
        uint256 absentees = (seed >> 2) % (faults + 1);
        for (uint256 i = 0; i < absentees; ++i) {
            uint256 place = uint256(keccak256(abi.encode(seed, "absent", i))) % members;
            while ((liars >> place) & 1 == 1 || (signers >> place) & 1 == 0) place = (place + 1) % members;
            signers ^= 2 ** place;
            --count;
        }
    }

    /// @dev Sometimes the relayer claims what a member of the quorum signed, or slightly more.
    function _claimALie(Update memory update, uint256 seed) internal pure {
        uint256 random = uint256(keccak256(abi.encode(seed, "claim")));
        uint256 claim = uint256(update.reports[random % update.reports.length].content);
        if (random % 3 == 0) update.value = bytes32(claim);
        if (random % 3 == 1 && claim < type(uint256).max) update.value = bytes32(claim + 1);
    }

    /// @dev Returns what a query answers after the update was sent, whether or not it reverted.
    function _outcome(Update memory update) internal returns (bytes32 stored, Oracle.QueryStatus status) {
        bool done = succeeds(update.encode());
        uint256 updatedAt;
        (stored, updatedAt, status) = query(dataset, KEY);
        assertEq(updatedAt, done ? START : 0);
    }

    /// @dev Each honest member of the quorum signs one of `honest`, each liar one of `lies` or anything.
    function _sign(uint256 signers, uint256 count, uint256[] memory honest, uint256[] memory lies, uint256 seed)
        internal
        view
        returns (Update memory)
    {
        uint256[] memory values = new uint256[](count);
        uint256 reported = 0;
        for (uint256 place = 0; place < members; ++place) {
            if ((signers >> place) & 1 == 0) continue;
            uint256 random = uint256(keccak256(abi.encode(seed, "value", place)));
            if ((liars >> place) & 1 == 0) values[reported] = honest[place];
            else if (seed % 3 == 0) values[reported] = random >> (random % 256);
            // Either all liars sign the same lie, or each one any of them.
            else values[reported] = lies[(seed % 3 == 1 ? seed >> 8 : random) % lies.length];
            ++reported;
        }
        return providers.reportFrom(signers, dataset, KEY, START, values);
    }
}

contract MedianLiarsTest is DatasetLiars {
    /// Holds whatever the honest members sign.
    function testFuzz_update_storesNothingBeyondTheHonestRange(uint256 size, uint256 seed) public {
        _seatLiars(size, seed);
        uint256[] memory honest = _values(seed, uint256(keccak256(abi.encode(seed))) >> (48 + seed % 208));
        (uint256 lowest, uint256 highest) = _range(honest);
        (uint256 signers, uint256 count) = _pickQuorum(seed);
        Update memory update = _sign(signers, count, honest, _lies(lowest, highest), seed);
        _claimALie(update, seed);
        (bytes32 stored, Oracle.QueryStatus status) = _outcome(update);
        if (status != Oracle.QueryStatus.OK) return;
        assertGe(uint256(stored), lowest);
        assertLe(uint256(stored), highest);
    }

    /// Holds while the largest honest value exceeds the smallest by at most the tolerance.
    function testFuzz_update_storesAValueWhenTheHonestAgree(uint256 size, uint256 seed) public {
        _seatLiars(size, seed);
        uint256 least = uint256(keccak256(abi.encode(seed))) >> (56 + seed % 200);
        uint256[] memory honest = _values(seed, least * TOLERANCE_BPS / 10_000);
        for (uint256 i = 0; i < members; ++i) {
            honest[i] += least;
        }
        (uint256 lowest, uint256 highest) = _range(honest);
        (uint256 signers, uint256 count) = _pickQuorum(seed);
        assertEq(_sign(signers, count, honest, _lies(lowest, highest), seed).send(dataset), Oracle.QueryStatus.OK);
    }

    /// @dev Returns values of up to `spread`: spread evenly, or at both ends only.
    function _values(uint256 seed, uint256 spread) private view returns (uint256[] memory values) {
        values = new uint256[](members);
        for (uint256 i = 0; i < members; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, "honest", i)));
            values[i] = seed % 2 == 0 ? random % (spread + 1) : random % 2 * spread;
        }
    }

    function _range(uint256[] memory honest) private view returns (uint256 lowest, uint256 highest) {
        lowest = type(uint256).max;
        for (uint256 i = 0; i < members; ++i) {
            if ((liars >> i) & 1 == 1) continue;
            if (honest[i] < lowest) lowest = honest[i];
            if (honest[i] > highest) highest = honest[i];
        }
    }

    /// @dev Returns values just inside and just outside the range, and at the extremes.
    function _lies(uint256 lowest, uint256 highest) private pure returns (uint256[] memory lies) {
        lies = new uint256[](6);
        (lies[0], lies[1], lies[2]) = (lowest, highest, highest + 1);
        (lies[3], lies[4], lies[5]) = (lowest > 0 ? lowest - 1 : 0, 0, type(uint256).max);
    }
}

contract MajorityLiarsTest is DatasetLiars {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }

    /// The stored value was signed by an honest member, whatever they sign.
    function testFuzz_update_storesNothingThatNoHonestMemberSigned(uint256 size, uint256 seed) public {
        _seatLiars(size, seed);
        uint256[] memory honest = new uint256[](members);
        for (uint256 i = 0; i < members; ++i) {
            // 5 or 6, mostly 5.
            honest[i] = 5 + (uint256(keccak256(abi.encode(seed, "honest", i))) % (2 + seed % 7)) / (1 + seed % 7);
        }
        (uint256 signers, uint256 count) = _pickQuorum(seed);
        Update memory update = _sign(signers, count, honest, _lies(), seed);
        update.value = _mostFrequent(update);
        _claimALie(update, seed);
        (bytes32 stored, Oracle.QueryStatus status) = _outcome(update);
        if (status != Oracle.QueryStatus.OK) return;
        bool isHonest = false;
        for (uint256 i = 0; i < members; ++i) {
            if ((liars >> i) & 1 == 0 && bytes32(honest[i]) == stored) isHonest = true;
        }
        assertTrue(isHonest);
    }

    /// If all honest members sign the same value, it is stored, or the relayer must submit more reports.
    function testFuzz_update_neverStoresADisagreementWhenTheHonestAgree(uint256 size, uint256 seed) public {
        _seatLiars(size, seed);
        Oracle.QueryStatus status = _send(equal(members, 5), seed);
        assertNotEq(uint256(status), uint256(Oracle.QueryStatus.DISAGREEMENT));
        if (status != Oracle.QueryStatus.OK) return;
        (bytes32 stored,,) = query(dataset, KEY);
        assertEq(uint256(stored), 5);
    }

    /// @return The status that was stored; INVALID if the update was undecided.
    function _send(uint256[] memory honest, uint256 seed) private returns (Oracle.QueryStatus) {
        (uint256 signers, uint256 count) = _pickQuorum(seed);
        Update memory update = _sign(signers, count, honest, _lies(), seed);
        update.value = _mostFrequent(update);
        if (ReferenceMajority.status(_contents(update), members) == Oracle.QueryStatus.INVALID) {
            assertReverts(update, abi.encodeWithSelector(IDataset.Undecided.selector, count, members - count));
            return Oracle.QueryStatus.INVALID;
        }
        return update.send(dataset);
    }

    function _mostFrequent(Update memory update) private pure returns (bytes32) {
        (uint256 value,) = ReferenceMajority.mostFrequent(_contents(update));
        return bytes32(value);
    }

    function _contents(Update memory update) private pure returns (uint256[] memory values) {
        values = new uint256[](update.reports.length);
        for (uint256 i = 0; i < values.length; ++i) {
            values[i] = uint256(update.reports[i].content);
        }
    }

    function _lies() private pure returns (uint256[] memory lies) {
        lies = new uint256[](4);
        (lies[0], lies[1], lies[2], lies[3]) = (4, 5, 6, 0);
    }
}
