// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle, OracleProtocol} from "../../src/usingOracleProtocol.sol";
import {SpotPriceConsumer} from "../examples/SpotPriceConsumer.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {MockOracle} from "../../src/mocks/MockOracle.sol";
import {Update} from "../utils/UpdateArguments.sol";
import {UpdateHelpersConsumer} from "../utils/UpdateHelpersConsumer.sol";

/// @notice Tests a consumer with a MockOracle. It also serves as an example.
contract MockOracleTest is Test {
    MockOracle private oracle;
    SpotPriceConsumer private consumer;

    function setUp() public {
        vm.warp(1_790_000_000);
        oracle = new MockOracle();
        consumer = new SpotPriceConsumer{value: 1 ether}(oracle);
    }

    function testFuzz_refresh_readsThePriceAndPays(uint256 price) public {
        oracle.setSpotPrice("ETH-USD", price);
        consumer.refresh();
        assertEq(consumer.price(), price);
        assertEq(address(oracle).balance, 0.001 ether);
        assertEq(address(consumer).balance, 0.999 ether);
    }

    function testFuzz_refresh_RevertWhen_theStatusIsNotOK(uint8 seed) public {
        Oracle.QueryStatus[3] memory others =
            [Oracle.QueryStatus.INVALID, Oracle.QueryStatus.NOT_AVAILABLE, Oracle.QueryStatus.DISAGREEMENT];
        Oracle.QueryStatus status = others[seed % 3];
        oracle.setAnswer("SPOTPX/ETH-USD", 0, 0, status);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, status));
        consumer.refresh();
    }

    /// As a dataset does: a consumer that forgets the status must not find a value.
    function test_query_hasNoValueUnlessTheStatusIsOK() public {
        oracle.setAnswer("SPOTPX/ETH-USD", bytes32(uint256(3000e18)), 5, Oracle.QueryStatus.DISAGREEMENT);
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) =
            oracle.query{value: oracle.queryPrice()}("SPOTPX/ETH-USD");
        assertEq(output, 0);
        assertEq(updatedAt, block.timestamp - 5);
        assertEq(uint8(status), uint8(Oracle.QueryStatus.DISAGREEMENT));
    }

    /// As a dataset does, even if the key has the other form.
    function test_query_answersInvalidToAKeyOfAnotherForm() public {
        _assertNoData("ETH-USD", Oracle.QueryStatus.INVALID);
        oracle.setSpotPrice("ETH-USD", 3000e18);
        _assertNoData("SPOTPX/BTC-USD", Oracle.QueryStatus.NOT_AVAILABLE);
        _assertNoData("ETH-USD", Oracle.QueryStatus.INVALID);
        _assertNoData(_webKey(), Oracle.QueryStatus.INVALID);
        oracle = new MockOracle();
        oracle.setAnswer(_webKey(), 0, 0, Oracle.QueryStatus.OK);
        _assertNoData("SPOTPX/ETH-USD", Oracle.QueryStatus.INVALID);
    }

    /// The error shows the key as it was written, and what to write instead.
    function test_setAnswer_RevertWhen_theKeyIsOfNoFormOrOfTheOther() public {
        string memory fix = "write SPOTPX/<BASE>-<QUOTE> in A-Z and 0-9, or WEB/ and a spec's hash in 64 of 0-9 and a-f";
        _assertNotAKey("ETH-USD", "write SPOTPX/ETH-USD");
        _assertNotAKey("SPOTPX/eth-usd", fix);
        _assertNotAKey("WEB/0123", fix);
        oracle.setSpotPrice("ETH-USD", 3000e18);
        _assertNotAKey("BTC-USD", "write SPOTPX/BTC-USD");
        fix = "write SPOTPX/<BASE>-<QUOTE> in A-Z and 0-9, as the first key has it, or deploy another MockOracle";
        _assertNotAKey(string(_webKey()), fix);
        oracle = new MockOracle();
        oracle.setAnswer(_webKey(), 0, 0, Oracle.QueryStatus.OK);
        fix = "write WEB/ and a spec's hash in 64 of 0-9 and a-f, as the first key has it, or deploy another MockOracle";
        _assertNotAKey("SPOTPX/ETH-USD", fix);
        // A price's prefix is no remedy here.
        _assertNotAKey("ETH-USD", fix);
    }

    /// No provider serves a key whose arguments no spec can have.
    function test_setAnswer_RevertWhen_noSpecCanHaveTheArguments() public {
        string memory fix =
            "write at most 8 arguments, none of them . or .. or with control characters, and each byte but A-Z a-z 0-9 - . _ ~ as % and two of 0-9 and A-F";
        string[15] memory wrong = [
            "/New York",
            "/a/b c",
            unicode"/São",
            "/%e3",
            "/%4",
            "/%",
            "/%41",
            "/%%20",
            "/.",
            "/a/..",
            "/../a",
            "/%00",
            "/a%1F",
            "/%7F",
            "/a/b/c/d/e/f/g/h/i"
        ];
        for (uint256 i = 0; i < wrong.length; ++i) {
            _assertNotAKey(string.concat(string(_webKey()), wrong[i]), fix);
        }
        string[7] memory right =
            ["/New%20York", "/S%C3%A3o%20Paulo/b", "//", "/%25", "/A-Z.a_z~09", "/.../.a/a.", "/1/2/3/4/5/6/7/"];
        for (uint256 i = 0; i < right.length; ++i) {
            oracle.setAnswer(bytes.concat(_webKey(), bytes(right[i])), bytes32(i + 1), 0, Oracle.QueryStatus.OK);
            (bytes32 output,,) = oracle.query{value: 0.001 ether}(bytes.concat(_webKey(), bytes(right[i])));
            assertEq(uint256(output), i + 1);
        }
        // A dataset does not look at arguments either.
        _assertNoData(bytes.concat(_webKey(), "/New York"), Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function testFuzz_setAnswer_isAsOldAsItSays(uint32 age, uint32 time) public {
        time = uint32(bound(time, 1, type(uint32).max));
        age = uint32(bound(age, 0, time - 1));
        vm.warp(time);
        oracle.setSpotPrice("ETH-USD", 3000e18, age);
        (, uint256 updatedAt,) = oracle.query{value: 0.001 ether}("SPOTPX/ETH-USD");
        assertEq(updatedAt, time - age);
    }

    function testFuzz_setAnswer_RevertWhen_itIsOlderThanTheChain(uint256 age, uint32 time) public {
        age = bound(age, time, type(uint256).max);
        vm.warp(time);
        string memory fix = "call vm.warp(1_790_000_000) before you set an answer";
        vm.expectRevert(abi.encodeWithSelector(MockOracle.OlderThanTheChain.selector, age, time, fix));
        oracle.setSpotPrice("ETH-USD", 3000e18, age);
    }

    function testFuzz_query_RevertWhen_notPaidExactly(uint96 sent) public {
        vm.assume(sent != 0.001 ether);
        vm.deal(address(this), sent);
        vm.expectRevert(abi.encodeWithSelector(MockOracle.WrongPayment.selector, sent, 0.001 ether));
        oracle.query{value: sent}("SPOTPX/ETH-USD");
    }

    // ---------------------------------------------------------------- updates

    function test_update_isStoredIfItIsNewer() public {
        UpdateHelpersConsumer updating = new UpdateHelpersConsumer{value: 1 ether}();
        bytes memory older = oracle.spotPriceUpdate("ETH-USD", 2900e18, 10);
        assertEq(updating.updateAndQuery(0, oracle, oracle.spotPriceUpdate("ETH-USD", 3000e18, 5), 5), 3000e18);
        assertEq(updating.updateAndQuery(0, oracle, older, 5), 3000e18);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 5, 4));
        updating.updateAndQuery(0, oracle, older, 4);
        bytes memory none = oracle.noDataUpdate("SPOTPX/ETH-USD", 0);
        vm.expectRevert(
            abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.NOT_AVAILABLE)
        );
        updating.updateAndQuery(0, oracle, none, 5);
    }

    function test_verify_storesNothing() public {
        UpdateHelpersConsumer updating = new UpdateHelpersConsumer{value: 1 ether}();
        assertEq(updating.verify(0, oracle, oracle.spotPriceUpdate("ETH-USD", 3000e18, 5), 5), 3000e18);
        assertEq(address(oracle).balance, 0.001 ether);
        _assertNoData("SPOTPX/ETH-USD", Oracle.QueryStatus.NOT_AVAILABLE);
        bytes memory none = oracle.noDataUpdate("SPOTPX/ETH-USD", 0);
        vm.expectRevert(
            abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.NOT_AVAILABLE)
        );
        updating.verify(0, oracle, none, 5);
    }

    function testFuzz_verify_RevertWhen_notPaidExactly(uint96 sent) public {
        vm.assume(sent != 0.001 ether);
        vm.deal(address(this), sent);
        bytes memory update = oracle.spotPriceUpdate("ETH-USD", 3000e18, 0);
        (bool isDone, bytes memory answer) =
            address(oracle).call{value: sent}(abi.encodeCall(IDataset.verify, (update)));
        assertFalse(isDone);
        assertEq(answer, abi.encodeWithSelector(MockOracle.WrongPayment.selector, sent, 0.001 ether));
    }

    /// As a dataset does: it does not even look at the reports, so that a sender that was slower does not fail.
    function testFuzz_update_changesNothingWhenTheRoundIsNotNewer(uint24 age, uint8 older, bool isRefusing) public {
        oracle.setSpotPrice("ETH-USD", 3000e18, age);
        bytes memory update = oracle.spotPriceUpdate("ETH-USD", 2900e18, uint256(age) + older % 3);
        oracle.setRefusing(isRefusing);
        (bool isDone, bytes memory answer) = address(oracle).call(abi.encodeCall(IDataset.update, (update)));
        assertTrue(isDone);
        assertEq(answer, abi.encode(Oracle.QueryStatus.OK, false));
        (bytes32 output, uint256 updatedAt,) = oracle.query{value: 0.001 ether}("SPOTPX/ETH-USD");
        assertEq(uint256(output), 3000e18);
        assertEq(updatedAt, block.timestamp - age);
    }

    function test_update_RevertWhen_theKeyIsOfNoForm() public {
        Update memory update;
        (update.key, update.timestamp) = ("ETH-USD", block.timestamp);
        (bool isDone, bytes memory answer) = address(oracle).call(update.encode());
        assertFalse(isDone);
        assertEq(answer, abi.encodeWithSelector(IDataset.InvalidKey.selector, "ETH-USD"));
        (isDone, answer) = address(oracle).call{value: 0.001 ether}(abi.encodeCall(IDataset.verify, (update.pack())));
        assertFalse(isDone);
        assertEq(answer, abi.encodeWithSelector(IDataset.InvalidKey.selector, "ETH-USD"));
    }

    /// As a dataset does: a consumer that takes an old update would be refused there.
    function testFuzz_update_RevertWhen_theRoundIsNotInTime(uint256 age) public {
        age = bound(age, 301, 30 days);
        bytes memory old = oracle.spotPriceUpdate("ETH-USD", 3000e18, age);
        _assertRefused(old, abi.encodeWithSelector(IDataset.ExpiredRound.selector, age, 300));
        bytes memory future = oracle.spotPriceUpdate("ETH-USD", 3000e18, 0);
        uint256 round = block.timestamp;
        vm.warp(round - 1);
        _assertRefused(future, abi.encodeWithSelector(IDataset.FutureRound.selector, round, round - 1));
    }

    function _assertRefused(bytes memory update, bytes memory reason) private {
        (bool isDone, bytes memory answer) = address(oracle).call(abi.encodeCall(IDataset.update, (update)));
        assertFalse(isDone);
        assertEq(answer, reason);
        (isDone, answer) = address(oracle).call{value: 0.001 ether}(abi.encodeCall(IDataset.verify, (update)));
        assertFalse(isDone);
        assertEq(answer, reason);
    }

    function test_setRefusing_refusesUpdatesButNoReads() public {
        UpdateHelpersConsumer updating = new UpdateHelpersConsumer{value: 1 ether}();
        bytes memory update = oracle.spotPriceUpdate("ETH-USD", 3000e18, 0);
        oracle.setRefusing(true);
        bytes memory refused = abi.encodeWithSelector(
            OracleProtocol.UpdateRefused.selector, abi.encodeWithSelector(MockOracle.Refused.selector)
        );
        vm.expectRevert(refused);
        updating.updateAndQuery(0, oracle, update, 5);
        vm.expectRevert(refused);
        updating.verify(0, oracle, update, 5);
        oracle.setSpotPrice("ETH-USD", 2900e18, 5);
        assertEq(updating.updateAndQuery(0, oracle, update, 5), 2900e18);
    }

    function _assertNoData(bytes memory key, Oracle.QueryStatus expected) private {
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = oracle.query{value: 0.001 ether}(key);
        assertEq(output, 0);
        assertEq(updatedAt, 0);
        assertEq(uint8(status), uint8(expected));
    }

    function _assertNotAKey(string memory key, string memory fix) private {
        vm.expectRevert(abi.encodeWithSelector(MockOracle.NotAKey.selector, key, fix));
        oracle.setAnswer(bytes(key), 0, 0, Oracle.QueryStatus.OK);
    }

    function _webKey() private pure returns (bytes memory) {
        return bytes.concat("WEB/", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    }
}
