// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {CommonBase} from "forge-std/Base.sol";
import {StdUtils} from "forge-std/StdUtils.sol";

import {Oracle} from "../../src/Oracle.sol";
import {IDataset, Statement} from "../../src/interfaces/IDataset.sol";
import {Providers} from "../utils/Providers.sol";
import {Batch, Report, Update} from "../utils/UpdateArguments.sol";
import {ReferenceMajority} from "../utils/ReferenceMajority.sol";
import {ReferenceMedian} from "../utils/ReferenceMedian.sol";

/// @notice Does what anyone may do to a dataset, in any order: submit updates of one or many keys that honest members and
/// liars signed, announce, query, share, govern, wait. It records what it saw, for the invariants to check.
/// @dev Every call of the dataset ends in one of `paths`, and the handler itself never reverts.
contract DatasetHandler is CommonBase, StdUtils {
    /// @dev f of committees of 7 and 8 members.
    uint256 private constant FAULTS = 2;

    /// @notice The account to which members claim their shares.
    address public constant PURSE = address(0xF00D);

    /// @notice The account that accuses members.
    address public constant ACCUSER = address(0xACC);

    IDataset public immutable dataset;
    bool private immutable IS_MAJORITY;
    bytes[] public keys;

    // Recorded observations.
    uint256[2] public earned;
    uint256[2] public shared;
    uint256 public totalOwed;
    uint256 public claimed;
    uint256 public rewarded;
    uint256 public wronglyEjected;
    /// @notice The remainders that committees without an ejected member could not share equally, in total and by their
    /// hash.
    uint256 public totalLeft;
    mapping(bytes32 committee => uint256) public left;
    bytes32 public committeeHash;
    uint256 public queryPrice;
    address public owner;
    address public pendingOwner;
    uint256 public oldestAge;
    uint256 public wronglyStale;
    /// @notice Accounts that read. The last one is never subscribed.
    address[4] public readers = [address(0xD1), address(0xD2), address(0xD3), address(0xD4)];

    /// @notice Until when each reader's subscription was paid, in seconds since 1970.
    mapping(address reader => uint256) public subscribedUntil;

    mapping(bytes key => uint256) public newest;
    mapping(bytes key => uint256) public lowestHonest;
    mapping(bytes key => uint256) public highestHonest;
    mapping(address member => uint256) public received;
    mapping(address member => uint256) public owed;

    /// @notice The number of calls that ended in each path.
    mapping(string path => uint256) public paths;

    Providers[2] private _committees;
    uint256 private _seated;
    address[3] private _owners;

    constructor(IDataset dataset_, bool isMajority, address owner_, Providers first, Providers second) {
        (dataset, IS_MAJORITY, owner) = (dataset_, isMajority, owner_);
        _owners = [owner_, address(0xA11CE), address(0xB0B)];
        _committees = [first, second];
        (committeeHash, queryPrice) = (dataset_.committeeHash(), dataset_.queryPrice());
        keys = [bytes("SPOTPX/ETH-USD"), "SPOTPX/BTC-USD", "SPOTPX/BTC-EUR", "SPOTPX/SOL-USD"];
    }

    // ---------------------------------------------------------------- updates

    /// @notice Honest members report similar values, up to f liars report anything, and the relayer picks a quorum.
    function submitUpdate(uint256 keySeed, uint256 round, uint256 absent, uint256 honest, uint256 lie) external {
        bytes memory key = _key(keySeed);
        uint256 spread;
        (honest, spread) = _honest(honest);
        uint256[] memory values = _values(_members() - bound(absent, 0, FAULTS), honest, spread, lie);
        Update memory update = _committees[_seated].report(dataset, key, _round(key, round), values);
        update.value = bytes32(_claim(values));
        // The relayer is a liar too.
        if (lie % 4 == 1) update.value = bytes32(IS_MAJORITY ? lie : honest + spread + 1);
        try dataset.update(update.pack()) returns (Oracle.QueryStatus status, bool isNew) {
            if (!isNew) return _seeStale("update", update);
            ++paths[status == Oracle.QueryStatus.OK ? "update: OK" : "update: DISAGREEMENT"];
            _see(key, update.timestamp);
            (lowestHonest[key], highestHonest[key]) = (honest, honest + spread);
        } catch (bytes memory reason) {
            ++paths[string.concat("update: ", _name(reason))];
        }
    }

    function submitNoData(uint256 keySeed, uint256 round) external {
        bytes memory key = _key(keySeed);
        Update memory update = _committees[_seated].reportNoData(dataset, key, _round(key, round), _members() - FAULTS);
        try dataset.updateNotAvailable(update.packNotAvailable()) returns (Oracle.QueryStatus, bool isNew) {
            if (!isNew) return _seeStale("updateNotAvailable", update);
            ++paths["updateNotAvailable: stored"];
            _see(key, update.timestamp);
        } catch (bytes memory reason) {
            ++paths[string.concat("updateNotAvailable: ", _name(reason))];
        }
    }

    /// @notice Submits one round of every key, known or not. Some rows may have no data for a key.
    function submitBatch(uint256 round, uint256 absent, uint256 honest, uint256 lie) external {
        uint256 spread;
        (honest, spread) = _honest(honest);
        uint256 count = _members() - bound(absent, 0, FAULTS);
        (bytes32[][] memory rows, uint256[] memory missing) = (new bytes32[][](count), new uint256[](count));
        for (uint256 row = 0; row < count; ++row) {
            rows[row] = new bytes32[](keys.length);
        }
        for (uint256 i = 0; i < keys.length; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(lie, "key", i)));
            uint256[] memory values = _values(count, honest, spread, seed);
            for (uint256 row = 0; row < count; ++row) {
                rows[row][i] = bytes32(values[row]);
                if (_isMissing(seed, row, count)) missing[row] |= 2 ** i;
            }
        }
        Batch memory batch =
            _committees[_seated].reportMany(dataset, keys, _round(keys[lie % keys.length], round), rows, missing);
        _submit(batch, honest, spread);
    }

    function announce(uint256 keySeed) external {
        bytes memory key = keySeed % 4 == 0 ? bytes("SPOTPX/eth-usd") : _key(keySeed / 4);
        try dataset.announce(key) {
            ++paths["announce: known"];
        } catch (bytes memory reason) {
            ++paths[string.concat("announce: ", _name(reason))];
        }
    }

    // ---------------------------------------------------------------- queries and income

    /// @notice Queries up to three times. Who pays a wei too much must not be answered.
    function query(uint256 keySeed, uint256 count) external {
        uint256 excess = count % 4 == 0 ? 1 : 0;
        count = bound(count, 1, 3);
        uint256 price = dataset.queryPrice();
        for (uint256 i = 0; i < count; ++i) {
            try dataset.query{value: price + excess}(_key(keySeed)) returns (bytes32, uint256, Oracle.QueryStatus) {
                ++paths["query: answered"];
                _earn(price);
            } catch (bytes memory reason) {
                ++paths[string.concat("query: ", _name(reason))];
            }
        }
    }

    /// @notice Extends a reader's subscription, or begins a new one.
    function subscribe(uint256 seed, uint256 periods) external {
        // The last reader never subscribes.
        address reader = readers[seed % (readers.length - 1)];
        periods = bound(periods, 1, 3);
        (uint256 price, uint256 period,) = dataset.costOfSubscription();
        uint256 start = subscribedUntil[reader] < block.timestamp ? block.timestamp : subscribedUntil[reader];
        try dataset.subscribe{value: price * periods}(reader, periods) {
            subscribedUntil[reader] = start + periods * period;
            _earn(price * periods);
            ++paths["subscribe: paid"];
        } catch (bytes memory reason) {
            ++paths[string.concat("subscribe: ", _name(reason))];
        }
    }

    /// @notice Forces Ether into the dataset, as a block's reward can be.
    function forceEther(uint256 amount) external {
        amount = bound(amount, 0, 1 ether);
        vm.deal(address(dataset), address(dataset).balance + amount);
        _earn(amount);
    }

    /// @notice Shares the income of either committee, whichever is the current one.
    function shareIncome(uint256 seed) external {
        uint256 shown = seed % 4 == 0 ? 1 - _seated : _seated;
        address[] memory members = _committees[shown].members();
        uint256 share = (earned[shown] - shared[shown]) / members.length;
        try dataset.shareIncome(members, _committees[shown].toleranceBps()) {
            ++paths[shown == _seated ? "shareIncome: current" : "shareIncome: former"];
            shared[shown] += share * members.length;
            _receive(members, share);
        } catch (bytes memory reason) {
            ++paths[string.concat("shareIncome: ", _name(reason))];
        }
    }

    /// @notice Makes the account of a member refuse what it is paid, or accept it again.
    function changeAccount(uint256 seed) external {
        address account = _member(seed);
        vm.etch(account, account.code.length == 0 ? bytes(hex"5f5ffd") : bytes(""));
    }

    function claimShares(uint256 seed) external {
        address member = _member(seed);
        vm.prank(member);
        try dataset.claimShares(PURSE) {
            ++paths["claimShares: paid"];
            claimed += owed[member];
            totalOwed -= owed[member];
            owed[member] = 0;
        } catch (bytes memory reason) {
            ++paths[string.concat("claimShares: ", _name(reason))];
        }
    }

    // ---------------------------------------------------------------- governance

    function setQueryPrice(uint256 price) external {
        price = bound(price, 0, 2 * dataset.priceCeiling());
        vm.prank(owner);
        try dataset.setQueryPrice(price) {
            ++paths["setQueryPrice: set"];
            queryPrice = price;
        } catch (bytes memory reason) {
            ++paths[string.concat("setQueryPrice: ", _name(reason))];
        }
    }

    /// @notice Accuses a member of having signed two values of one round: with two that it signed, with the same one
    /// twice, or with one that another member signed. If it is ejected, the others share the income, and the owner sets
    /// the whole committee again.
    function accuse(uint256 seed, uint256 value) external {
        Providers committee = _committees[_seated];
        address[] memory members = committee.members();
        uint256 place = (seed >> 8) % members.length;
        uint256 other = seed % 3 == 1 ? (place + 1) % members.length : place;
        uint256 income = earned[_seated] - shared[_seated];
        (Statement memory a, Statement memory b) =
            (_statement(committee, place, value), _statement(committee, other, seed % 3 == 2 ? value : value ^ 1));
        uint256 toleranceBps = committee.toleranceBps();
        vm.prank(ACCUSER);
        try dataset.accuse(keccak256(keys[0]), block.timestamp + 1, a, b, members, toleranceBps) {
            ++paths["accuse: ejected"];
            if (seed % 3 != 0) ++wronglyEjected;
            shared[_seated] += income;
            rewarded += income / members.length;
            _shareWithout(committee, place, income - income / members.length);
            _setCommittee(committee);
        } catch (bytes memory reason) {
            ++paths[string.concat("accuse: ", _name(reason))];
        }
    }

    function changeCommittee() external {
        _seated = 1 - _seated;
        _setCommittee(_committees[_seated]);
        ++paths["setCommittee: set"];
    }

    function _setCommittee(Providers next) private {
        address[] memory members = next.members();
        uint256 toleranceBps = next.toleranceBps();
        vm.prank(owner);
        dataset.setCommittee(members, toleranceBps);
        committeeHash = keccak256(abi.encodePacked(toleranceBps, members));
    }

    function transferOwnership(uint256 next) external {
        pendingOwner = _owners[next % 3];
        vm.prank(owner);
        Ownable2Step(address(dataset)).transferOwnership(pendingOwner);
        ++paths["transferOwnership: begun"];
    }

    function acceptOwnership(uint256 caller) external {
        address next = _owners[caller % 3];
        vm.prank(next);
        try Ownable2Step(address(dataset)).acceptOwnership() {
            ++paths["acceptOwnership: accepted"];
            (owner, pendingOwner) = (next, address(0));
        } catch (bytes memory reason) {
            ++paths[string.concat("acceptOwnership: ", _name(reason))];
        }
    }

    /// @notice The invariants check that calls of anyone but the owner have no effect.
    function usurp(address caller, uint256 seed) external {
        if (caller == owner || caller == pendingOwner) return;
        address[] memory members = new address[](1);
        members[0] = caller;
        bytes[4] memory calls = [
            abi.encodeCall(IDataset.setCommittee, (members, 0)),
            abi.encodeCall(IDataset.setQueryPrice, (seed % (dataset.priceCeiling() + 1))),
            abi.encodeCall(Ownable2Step.transferOwnership, (caller)),
            abi.encodeCall(Ownable2Step.acceptOwnership, ())
        ];
        vm.prank(caller);
        (bool done, bytes memory reason) = address(dataset).call(calls[seed % 4]);
        ++paths[done ? "usurped" : string.concat("usurp: ", _name(reason))];
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 0, 400));
    }

    /// @dev Some picks are of any row.
    function _submit(Batch memory batch, uint256 honest, uint256 spread) private {
        for (uint256 i = 0; i < keys.length; ++i) {
            uint256 random = uint256(keccak256(abi.encode(batch.values, i)));
            if (random % 4 == 0) batch.picks[i] = bytes1(bytes32((random >> 8) % batch.rows.length << 248));
        }
        // An external call, so that the revert of a batch can be caught.
        try this.send(batch) returns (IDataset.KeyOutcome[] memory outcomes) {
            for (uint256 i = 0; i < keys.length; ++i) {
                ++paths[string.concat("updateBatch: ", vm.toString(uint256(outcomes[i])))];
                if (outcomes[i] != IDataset.KeyOutcome.STORED) continue;
                _see(keys[i], batch.timestamp);
                (lowestHonest[keys[i]], highestHonest[keys[i]]) = (honest, honest + spread);
            }
        } catch (bytes memory reason) {
            ++paths[string.concat("updateBatch: ", _name(reason))];
        }
    }

    function send(Batch memory batch) external returns (IDataset.KeyOutcome[] memory) {
        require(msg.sender == address(this));
        return batch.send(dataset);
    }

    function _earn(uint256 amount) private {
        earned[_seated] += amount;
    }

    // ---------------------------------------------------------------- fuzzed inputs

    /// @dev Returns mostly values that fit; sometimes one that is too large for a median.
    function _honest(uint256 seed) private pure returns (uint256 lowest, uint256 spread) {
        lowest = bound(seed, 0, seed % 16 == 0 ? type(uint240).max : type(uint200).max);
        spread = uint256(keccak256(abi.encode(seed))) % (lowest / 50 + 1);
    }

    /// @dev Honest members sign anything in the range (median), or one of its ends (majority).
    function _values(uint256 count, uint256 honest, uint256 spread, uint256 lie)
        private
        view
        returns (uint256[] memory values)
    {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 random = uint256(keccak256(abi.encode(lie, i)));
            if (IS_MAJORITY) values[i] = honest + (random % (1 + lie % 3) == 0 ? 0 : spread);
            else values[i] = honest + random % (spread + 1);
        }
        uint256 liars = lie % (FAULTS + 1);
        for (uint256 i = 0; i < liars; ++i) {
            values[uint256(keccak256(abi.encode(lie, "place", i))) % count] = i % 2 == 0 ? lie : lie % 3;
        }
    }

    function _claim(uint256[] memory values) private view returns (uint256 value) {
        if (!IS_MAJORITY) return ReferenceMedian.median(values);
        (value,) = ReferenceMajority.mostFrequent(values);
    }

    /// @dev Depending on the seed, none of the rows is missing, or all, one, or any subset.
    function _isMissing(uint256 seed, uint256 row, uint256 count) private pure returns (bool) {
        uint256 shape = (seed >> 8) % 6;
        if (shape <= 2) return false;
        if (shape == 3) return true;
        if (shape == 4) return row == seed % count;
        return uint256(keccak256(abi.encode(seed, "missing", row))) % 2 == 0;
    }

    /// @dev Returns mostly a valid round; sometimes an older, an expired or a future one.
    function _round(bytes memory key, uint256 seed) private view returns (uint256) {
        if (seed % 8 == 0) return newest[key];
        if (seed % 8 == 1) return block.timestamp + 1 + seed % 100;
        if (seed % 8 == 2) return block.timestamp - 301 - seed % 100;
        return block.timestamp - seed % 300;
    }

    function _key(uint256 seed) private view returns (bytes memory) {
        return keys[seed % keys.length];
    }

    function _members() private view returns (uint256) {
        return _committees[_seated].members().length;
    }

    function _member(uint256 seed) private view returns (address) {
        address[] memory members = _committees[seed % 2].members();
        return members[(seed >> 8) % members.length];
    }

    function _name(bytes memory reason) private pure returns (string memory) {
        // forge-lint: disable-next-line(unsafe-typecast)
        return vm.toString(abi.encodePacked(bytes4(reason)));
    }

    function _see(bytes memory key, uint256 timestamp) private {
        if (block.timestamp - timestamp > oldestAge) oldestAge = block.timestamp - timestamp;
        if (timestamp > newest[key]) newest[key] = timestamp;
    }

    /// @dev The dataset may treat a round as stale only if it is not newer than the stored one.
    function _seeStale(string memory call, Update memory update) private {
        ++paths[string.concat(call, ": stale")];
        if (update.timestamp > newest[update.key]) ++wronglyStale;
    }

    /// @dev Shares the income of a committee without an ejected member.
    function _shareWithout(Providers committee, uint256 place, uint256 income) private {
        address[] memory members = committee.members();
        address[] memory rest = new address[](members.length - 1);
        for (uint256 i = 0; i < rest.length; ++i) {
            rest[i] = members[i < place ? i : i + 1];
        }
        bytes32 hash = keccak256(abi.encodePacked(committee.toleranceBps(), rest));
        income += left[hash];
        dataset.shareIncome(rest, committee.toleranceBps());
        totalLeft = totalLeft - left[hash] + income % rest.length;
        left[hash] = income % rest.length;
        _receive(rest, income / rest.length);
    }

    /// @dev Records that each member was paid its share, or is owed it.
    function _receive(address[] memory members, uint256 share) private {
        for (uint256 i = 0; i < members.length; ++i) {
            if (members[i].code.length == 0) {
                received[members[i]] += share;
            } else {
                owed[members[i]] += share;
                totalOwed += share;
            }
        }
    }

    function _statement(Providers committee, uint256 place, uint256 value) private view returns (Statement memory) {
        Report memory report =
            committee.sign(dataset, keys[0], Oracle.QueryStatus.OK, block.timestamp + 1, value, place);
        bytes32[] memory values = new bytes32[](1);
        values[0] = report.content;
        return Statement(uint256(Oracle.QueryStatus.OK), new bytes32[](0), values, 0, report.r, report.vs);
    }
}
