// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {IDataset, Statement} from "../src/interfaces/IDataset.sol";
import {Quorum} from "../src/libraries/Quorum.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {IncomeSharer} from "./utils/IncomeSharer.sol";
import {Providers} from "./utils/Providers.sol";
import {ReferenceReports} from "./utils/ReferenceReports.sol";
import {Batch, Report, Update} from "./utils/UpdateArguments.sol";

/// @notice Only a member that contradicted itself can be ejected, and only its own share of the income is given away.
contract DatasetAccuseTest is DatasetFixture {
    bytes private constant OTHER_KEY = "SPOTPX/BTC-USD";
    uint256 private constant ROUND = START + 50;
    address private immutable ACCUSER = makeAddr("accuser");

    function setUp() public override {
        super.setUp();
        _setMembers(7);
        vm.roll(1_000);
        vm.warp(START + 100);
    }

    // ---------------------------------------------------------------- contradictions

    function testFuzz_accuse_ejectsAMemberThatSignedTwoValues(uint256 place, uint256 one, uint256 two) public {
        vm.assume(one != two);
        place %= 7;
        address[] memory rest = _without(place);
        vm.expectEmit(address(dataset));
        emit IDataset.CommitteeChanged(rest, TOLERANCE_BPS);
        vm.expectEmit(address(dataset));
        emit IDataset.MemberEjected(providers.members()[place], ACCUSER, 0);
        _accuse(_value(place, one), _value(place, two));
        assertEq(dataset.committeeHash(), _hash(rest));
        assertEq(dataset.committeeBlock(), 1_000);
    }

    function test_accuse_ejectsAMemberWhoseStatementsSayDifferentThings() public {
        uint256 state = vm.snapshotState();
        for (uint256 i = 0; i < 49; ++i) {
            (uint256 one, uint256 two) = (i / 7, i % 7);
            if (_said(one) == _said(two)) continue;
            _accuse(_statement(one), _statement(two));
            assertEq(dataset.committeeHash(), _hash(_without(2)));
            vm.revertToState(state);
        }
    }

    /// The two statements are read from the calldata of mined updates: a report of one key, and a row of a batch.
    function test_accuse_takesWhatPackedUpdatesSay() public {
        bytes memory update = providers.report(dataset, KEY, ROUND, valuesNear3000(5, 1)).encode();
        bytes memory batch = _contradictingBatch().encode();
        assertTrue(succeeds(update));
        assertTrue(succeeds(batch));
        _accuse(_firstReport(_packedIn(update)), _firstRow(_packedIn(batch)));
        assertEq(dataset.committeeHash(), _hash(_without(0)));
    }

    /// Statements count even if their round is long too old to be stored, or is still in the future.
    function testFuzz_accuse_takesAnyRoundOfTheCommittee(uint256 round) public {
        round = bound(round, START + 1, type(uint256).max);
        _accuse(_report(0, Oracle.QueryStatus.OK, 1, round), _report(0, Oracle.QueryStatus.OK, 2, round), KEY, round);
        assertEq(dataset.committeeHash(), _hash(_without(0)));
    }

    /// The committee that is left needs no more signers than the one before, and signs without the ejected member.
    function test_accuse_leavesACommitteeThatGoesOn() public {
        _accuse(_value(6, 1), _value(6, 2));
        Update memory update = providers.report(dataset, KEY, block.timestamp, valuesNear3000(5, 1));
        assertReverts(update, wrongCommittee(update));
        address[] memory absentees = new address[](1);
        absentees[0] = update.absentees[0];
        update.absentees = absentees;
        assertEq(update.send(dataset), Oracle.QueryStatus.OK);
    }

    /// Ejecting any number of liars leaves a committee that needs no more signers and tolerates those that are left.
    function test_accuse_neverWeakensTheCommittee() public pure {
        uint256[256] memory needed;
        for (uint256 size = 1; size <= 255; ++size) {
            needed[size] = needed[size - 1];
            while (!Quorum.isReached(needed[size], size - needed[size])) ++needed[size];
        }
        for (uint256 size = 5; size <= 255; ++size) {
            for (uint256 ejected = 1; ejected <= Quorum.faultBound(size) && size - ejected >= 4; ++ejected) {
                assertLe(needed[size - ejected], needed[size]);
                assertLe(Quorum.faultBound(size) - ejected, Quorum.faultBound(size - ejected));
            }
        }
    }

    // ---------------------------------------------------------------- statements that prove nothing

    function test_accuse_RevertWhen_bothSayTheSame() public {
        for (uint256 i = 0; i < 49; ++i) {
            (uint256 one, uint256 two) = (i / 7, i % 7);
            if (_said(one) == _said(two)) _refuse(_statement(one), _statement(two), _same(_said(one)));
        }
    }

    /// It takes two signatures: a row that has the key twice is one statement.
    function testFuzz_accuse_RevertWhen_aRowHasTheKeyTwice(bytes32 one, bytes32 two) public {
        vm.assume(one != two);
        Statement memory first = _row(2, _keys(KEY, KEY), 0, _values(one, two), 0);
        Statement memory second = _row(2, _keys(KEY, KEY), 0, _values(one, two), 1);
        (bytes32 a, bytes32 b) = (_content(Oracle.QueryStatus.OK, one), _content(Oracle.QueryStatus.OK, two));
        _refuse(first, second, abi.encodeWithSelector(IDataset.NoContradiction.selector, a, b));
    }

    function testFuzz_accuse_RevertWhen_twoMembersSigned(uint256 one, uint256 two) public {
        (one, two) = (one % 7, two % 7);
        vm.assume(one != two);
        address[] memory members = providers.members();
        _refuse(
            _value(one, 1),
            _value(two, 2),
            abi.encodeWithSelector(IDataset.DifferentSigners.selector, members[one], members[two])
        );
    }

    function testFuzz_accuse_RevertWhen_oneWasNotSigned(uint256 value, bytes32 r, bytes32 vs) public {
        vm.assume(value != 1);
        Statement memory forged = _value(2, value);
        vm.assume(forged.r != r || forged.vs != vs);
        (forged.r, forged.vs) = (r, vs);
        _refusePartly(_value(2, 1), forged, IDataset.DifferentSigners.selector);
        _refusePartly(forged, _value(2, 1), IDataset.DifferentSigners.selector);
    }

    /// A valid signature of another value, key, round, dataset or chain does not count for this statement.
    function testFuzz_accuse_RevertWhen_somethingElseWasSigned(uint256 kind) public {
        Statement memory other = _value(2, 2);
        kind %= 5;
        if (kind == 0) other.values[0] = bytes32(uint256(3));
        if (kind == 1) other = _statement(providers.sign(dataset, OTHER_KEY, Oracle.QueryStatus.OK, ROUND, 2, 2), 1);
        if (kind == 2) other = _report(2, Oracle.QueryStatus.OK, 2, ROUND + 1);
        if (kind == 3) {
            other = _statement(providers.sign(deploy(providers), KEY, Oracle.QueryStatus.OK, ROUND, 2, 2), 1);
        }
        if (kind == 4) {
            vm.chainId(block.chainid + 1);
            other = _value(2, 2);
            vm.chainId(block.chainid - 1);
        }
        _refusePartly(_value(2, 1), other, IDataset.DifferentSigners.selector);
    }

    /// An invalid signature recovers to the zero address.
    function test_accuse_RevertWhen_nobodySigned() public {
        (Statement memory a, Statement memory b) = (_value(2, 1), _value(2, 2));
        (a.r, b.r) = (0, 0);
        _refuse(a, b, abi.encodeWithSelector(IDataset.NotAMember.selector, address(0)));
    }

    function testFuzz_accuse_RevertWhen_theSignerIsNoMember(uint256 key) public {
        key = bound(key, 1, type(uint128).max);
        _refuse(_signed(key, 1), _signed(key, 2), abi.encodeWithSelector(IDataset.NotAMember.selector, vm.addr(key)));
    }

    function test_accuse_RevertWhen_theRowHasAnotherKeyThere() public {
        Statement memory row = _row(2, _keys(OTHER_KEY, KEY), 0, _values("one", "two"), 0);
        _refuse(
            _value(2, 1), row, abi.encodeWithSelector(IDataset.WrongKey.selector, keccak256(OTHER_KEY), keccak256(KEY))
        );
    }

    /// The bitmap of the keys without data has 256 bits, too few for a longer row.
    function test_accuse_RevertWhen_theRowHas257Keys() public {
        bytes[] memory keys = new bytes[](257);
        for (uint256 i = 0; i < 257; ++i) {
            keys[i] = KEY;
        }
        Statement memory row = _row(2, keys, 0, new bytes32[](257), 256);
        _refuse(_value(2, 1), row, abi.encodeWithSelector(IDataset.TooManyKeys.selector, 257, 256));
    }

    // ---------------------------------------------------------------- the committee

    function testFuzz_accuse_RevertWhen_theCommitteeIsAnother(uint256 toleranceBps, uint256 place, address member)
        public
    {
        address[] memory members = providers.members();
        (Statement memory a, Statement memory b) = (_value(2, 1), _value(2, 2));
        vm.assume(toleranceBps != TOLERANCE_BPS && member != members[place %= 7]);
        vm.expectRevert(_wrongCommittee(members, toleranceBps));
        dataset.accuse(keccak256(KEY), ROUND, a, b, members, toleranceBps);
        members[place] = member;
        vm.expectRevert(_wrongCommittee(members, TOLERANCE_BPS));
        dataset.accuse(keccak256(KEY), ROUND, a, b, members, TOLERANCE_BPS);
    }

    function _wrongCommittee(address[] memory members, uint256 toleranceBps) private view returns (bytes memory) {
        bytes32 shown = keccak256(abi.encodePacked(toleranceBps, members));
        return abi.encodeWithSelector(IDataset.WrongCommittee.selector, shown, dataset.committeeHash());
    }

    function testFuzz_accuse_RevertWhen_fewerThanFourWouldBeLeft(uint256 size) public {
        size = bound(size, 1, 4);
        _setMembers(size);
        vm.warp(START + 200);
        uint256 round = START + 150;
        _refuse(
            _report(0, Oracle.QueryStatus.OK, 1, round),
            _report(0, Oracle.QueryStatus.OK, 2, round),
            round,
            abi.encodeWithSelector(IDataset.CommitteeTooSmall.selector, size, 4)
        );
    }

    /// A signature from before the owner set the committee does not count.
    function testFuzz_accuse_RevertWhen_theRoundIsBeforeTheCommittee(uint256 round) public {
        round = bound(round, 0, START);
        _refuse(
            _report(2, Oracle.QueryStatus.OK, 1, round),
            _report(2, Oracle.QueryStatus.OK, 2, round),
            round,
            abi.encodeWithSelector(IDataset.RoundBeforeCommittee.selector, round, START)
        );
    }

    /// A member that the owner puts back is not ejected again for the same statements.
    function test_accuse_RevertWhen_replayedAfterTheMemberIsSetAgain() public {
        (Statement memory a, Statement memory b) = (_value(2, 1), _value(2, 2));
        _accuse(a, b);
        address[] memory members = providers.members();
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
        _refuse(a, b, abi.encodeWithSelector(IDataset.RoundBeforeCommittee.selector, ROUND, block.timestamp));
    }

    /// An ejection does not count as setting the committee: other members can still be ejected for earlier rounds.
    function test_accuse_ejectsASecondMemberForAnEarlierRound() public {
        _accuse(_value(2, 1), _value(2, 2));
        address[] memory rest = _without(2);
        (Statement memory a, Statement memory b) = (_value(6, 1), _value(6, 2));
        dataset.accuse(keccak256(KEY), ROUND, a, b, rest, TOLERANCE_BPS);
        address[] memory left = new address[](5);
        for (uint256 i = 0; i < 5; ++i) {
            left[i] = rest[i];
        }
        assertEq(dataset.committeeHash(), _hash(left));
    }

    // ---------------------------------------------------------------- the income

    /// The accuser gets exactly what the accused would have got, the others at least what they would have got, and what
    /// is another committee's, or owed to a member, stays as it is.
    function testFuzz_accuse_movesTheShareOfTheAccusedOnly(uint88 aside, uint88 income, uint88 former, bool isFormer)
        public
    {
        (address[] memory members, address[] memory rest) = (providers.members(), _without(3));
        bytes32 other = _hash(new Providers(9, TOLERANCE_BPS).members());
        // The other committee may be the very one that is left.
        if (isFormer) other = _hash(rest);
        _earn(former, isFormer ? rest : new Providers(9, TOLERANCE_BPS).members());
        _earn(aside, members);
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
        vm.warp(START + 200);
        vm.deal(address(dataset), address(dataset).balance + income);
        uint256 whole = uint256(aside) + income;

        _accuseOfTwoValues(3, START + 150);
        assertEq(ACCUSER.balance, whole / 7);
        assertEq(dataset.unsharedIncomeOf(_hash(members)), 0);
        assertEq(dataset.unsharedIncomeOf(other), former + (isFormer ? whole - whole / 7 : 0));
        assertEq(dataset.unsharedIncomeOf(_hash(rest)), whole - whole / 7 + (isFormer ? former : 0));
        assertEq(address(dataset).balance, former + whole - whole / 7);
        dataset.shareIncome(rest, TOLERANCE_BPS);
        for (uint256 i = 0; i < 6; ++i) {
            assertGe(rest[i].balance, whole / 7);
        }
        assertEq(members[3].balance, 0);
    }

    function test_accuse_leavesWhatIsOwedToTheAccused() public {
        address[] memory members = providers.members();
        vm.etch(members[3], hex"fe");
        vm.deal(address(dataset), 7 ether);
        dataset.shareIncome(members, TOLERANCE_BPS);
        _accuse(_value(3, 1), _value(3, 2));
        assertEq(dataset.unpaidShares(members[3]), 1 ether);
        assertEq(address(dataset).balance, 1 ether);
        vm.prank(members[3]);
        dataset.claimShares(ACCUSER);
        assertEq(ACCUSER.balance, 1 ether);
    }

    function test_accuse_RevertWhen_theAccuserRejectsItsReward() public {
        vm.etch(ACCUSER, hex"fe");
        vm.deal(address(dataset), 7 ether);
        _refuse(_value(3, 1), _value(3, 2), abi.encodeWithSelector(IDataset.RewardRejected.selector, ACCUSER, 1 ether));
        assertEq(address(dataset).balance, 7 ether);
    }

    /// The accuser may share the others' income while it is paid: it gets no more than its reward.
    function test_accuse_isNotDisturbedByASharing() public {
        vm.deal(address(dataset), 7 ether);
        address[] memory rest = _without(3);
        IncomeSharer accuser = new IncomeSharer();
        accuser.prepare(dataset, rest, TOLERANCE_BPS);
        address[] memory members = providers.members();
        (Statement memory a, Statement memory b) = (_value(3, 1), _value(3, 2));
        vm.prank(address(accuser));
        dataset.accuse(keccak256(KEY), ROUND, a, b, members, TOLERANCE_BPS);
        assertEq(address(accuser).balance, 1 ether);
        for (uint256 i = 0; i < 6; ++i) {
            assertEq(rest[i].balance, 1 ether);
        }
        assertEq(address(dataset).balance, 0);
    }

    // ---------------------------------------------------------------- steps

    function _setMembers(uint256 size) private {
        providers = new Providers(size, TOLERANCE_BPS);
        address[] memory members = providers.members();
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
    }

    /// @dev Sets the committee and lets it earn something.
    function _earn(uint256 amount, address[] memory members) private {
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
        vm.deal(address(dataset), address(dataset).balance + amount);
    }

    function _accuse(Statement memory a, Statement memory b) private {
        _accuse(a, b, KEY, ROUND);
    }

    function _accuseOfTwoValues(uint256 place, uint256 round) private {
        _accuse(
            _report(place, Oracle.QueryStatus.OK, 1, round), _report(place, Oracle.QueryStatus.OK, 2, round), KEY, round
        );
    }

    function _accuse(Statement memory a, Statement memory b, bytes memory key, uint256 round) private {
        address[] memory members = providers.members();
        vm.prank(ACCUSER);
        dataset.accuse(keccak256(key), round, a, b, members, TOLERANCE_BPS);
    }

    function _refuse(Statement memory a, Statement memory b, bytes memory reason) private {
        _refuse(a, b, ROUND, reason);
    }

    function _refuse(Statement memory a, Statement memory b, uint256 round, bytes memory reason) private {
        bytes32 before = dataset.committeeHash();
        address[] memory members = providers.members();
        vm.expectRevert(reason);
        vm.prank(ACCUSER);
        dataset.accuse(keccak256(KEY), round, a, b, members, TOLERANCE_BPS);
        assertEq(dataset.committeeHash(), before);
    }

    function _refusePartly(Statement memory a, Statement memory b, bytes4 reason) private {
        bytes32 before = dataset.committeeHash();
        address[] memory members = providers.members();
        vm.expectPartialRevert(reason);
        dataset.accuse(keccak256(KEY), ROUND, a, b, members, TOLERANCE_BPS);
        assertEq(dataset.committeeHash(), before);
    }

    // ---------------------------------------------------------------- statements

    function _value(uint256 place, uint256 value) private view returns (Statement memory) {
        return _report(place, Oracle.QueryStatus.OK, value, ROUND);
    }

    function _noData(uint256 place, uint256 value) private view returns (Statement memory) {
        return _report(place, Oracle.QueryStatus.NOT_AVAILABLE, value, ROUND);
    }

    function _report(uint256 place, Oracle.QueryStatus outcome, uint256 value, uint256 round)
        private
        view
        returns (Statement memory)
    {
        return _statement(providers.sign(dataset, KEY, outcome, round, value, place), uint256(outcome));
    }

    function _statement(Report memory report, uint256 outcome) private pure returns (Statement memory) {
        return Statement(outcome, new bytes32[](0), _values(report.content), 0, report.r, report.vs);
    }

    /// @dev Returns one of seven statements of a member: of two values, or of no data, whose value has no meaning; in a
    /// report, or in a row that may have other keys, and this one at any index.
    function _statement(uint256 number) private view returns (Statement memory) {
        if (number == 0) return _value(2, 1);
        if (number == 1) return _row(2, _keys(OTHER_KEY, KEY), 1, _values(0, bytes32(uint256(1))), 1);
        if (number == 2) return _value(2, 2);
        if (number == 3) return _row(2, _keys(KEY), 0, _values(bytes32(uint256(2))), 0);
        if (number == 4) return _noData(2, 0);
        if (number == 5) return _noData(2, 1);
        return _row(2, _keys(OTHER_KEY, KEY), 2, _values(0, bytes32(uint256(2))), 1);
    }

    function _said(uint256 number) private pure returns (bytes32) {
        if (number >= 4) return _content(Oracle.QueryStatus.NOT_AVAILABLE, 0);
        return _content(Oracle.QueryStatus.OK, bytes32(1 + number / 2));
    }

    function _signed(uint256 key, uint256 value) private view returns (Statement memory) {
        bytes32 digest = ReferenceReports.digest(address(dataset), KEY, Oracle.QueryStatus.OK, bytes32(value), ROUND);
        (bytes32 r, bytes32 vs) = vm.signCompact(key, digest);
        return _statement(Report(bytes32(value), r, vs), 1);
    }

    function _row(uint256 place, bytes[] memory keys, uint256 missing, bytes32[] memory values, uint256 index)
        private
        view
        returns (Statement memory)
    {
        Report memory row = providers.signRow(dataset, keys, missing, values, ROUND, place);
        bytes32[] memory keyHashes = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            keyHashes[i] = keccak256(keys[i]);
        }
        return Statement(missing, keyHashes, values, index, row.r, row.vs);
    }

    function _keys(bytes memory key) private pure returns (bytes[] memory keys) {
        keys = new bytes[](1);
        keys[0] = key;
    }

    function _keys(bytes memory first, bytes memory second) private pure returns (bytes[] memory keys) {
        keys = new bytes[](2);
        (keys[0], keys[1]) = (first, second);
    }

    function _values(bytes32 value) private pure returns (bytes32[] memory values) {
        values = new bytes32[](1);
        values[0] = value;
    }

    function _values(bytes32 first, bytes32 second) private pure returns (bytes32[] memory values) {
        values = new bytes32[](2);
        (values[0], values[1]) = (first, second);
    }

    function _content(Oracle.QueryStatus outcome, bytes32 value) private pure returns (bytes32) {
        return keccak256(abi.encode(outcome, value));
    }

    function _same(bytes32 content) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IDataset.NoContradiction.selector, content, content);
    }

    // ---------------------------------------------------------------- statements in calldata

    /// @dev Five members report values of other lengths than in an update near 3,000, for two keys.
    function _contradictingBatch() private view returns (Batch memory) {
        bytes32[][] memory rows = new bytes32[][](5);
        for (uint256 row = 0; row < 5; ++row) {
            rows[row] = _values(bytes32(uint256(1)), bytes32(4000e18 + row));
        }
        return providers.reportMany(dataset, _keys(OTHER_KEY, KEY), ROUND, rows, new uint256[](5));
    }

    /// @notice Returns the packed bytes that the calldata of an update carries.
    function _packedIn(bytes memory data) private pure returns (bytes memory) {
        bytes memory arguments = new bytes(data.length - 4);
        for (uint256 i = 0; i < arguments.length; ++i) {
            arguments[i] = data[4 + i];
        }
        return abi.decode(arguments, (bytes));
    }

    /// @dev The first member is the first signer, and has not signed the claimed value. The bitmap has one byte.
    function _firstReport(bytes memory packed) private pure returns (Statement memory statement) {
        uint256 offset = 11 + KEY.length + 1;
        offset += 1 + uint8(packed[offset]);
        uint256 length = uint8(packed[offset++]);
        assertLe(length, 32, "the claimed value");
        statement.outcome = uint256(Oracle.QueryStatus.OK);
        statement.values = _values(_word(packed, offset, length));
        (statement.r, statement.vs) = _signature(packed, offset + length);
    }

    /// @dev The first member is the first signer, of a row with two keys, of which the second one is accused of.
    function _firstRow(bytes memory packed) private pure returns (Statement memory statement) {
        statement.keyHashes = _values(_word(packed, 11, 32), _word(packed, 43, 32));
        uint256 offset = 11 + 2 * 33 + 1;
        uint256 length = uint8(packed[offset]);
        statement.outcome = uint8(packed[offset + 1]);
        offset += 2;
        statement.values = _values(_word(packed, offset, length), _word(packed, offset + length, length));
        statement.index = 1;
        (statement.r, statement.vs) = _signature(packed, offset + 2 * length);
    }

    function _signature(bytes memory packed, uint256 offset) private pure returns (bytes32 r, bytes32 vs) {
        return (_word(packed, offset, 32), _word(packed, offset + 32, 32));
    }

    function _word(bytes memory packed, uint256 offset, uint256 length) private pure returns (bytes32) {
        uint256 result = 0;
        for (uint256 i = 0; i < length; ++i) {
            result = (result << 8) | uint8(packed[offset + i]);
        }
        return bytes32(result);
    }

    // ---------------------------------------------------------------- committees

    function _without(uint256 place) private view returns (address[] memory rest) {
        address[] memory members = providers.members();
        rest = new address[](members.length - 1);
        for (uint256 i = 0; i < rest.length; ++i) {
            rest[i] = members[i < place ? i : i + 1];
        }
    }

    function _hash(address[] memory members) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(TOLERANCE_BPS, members));
    }
}
