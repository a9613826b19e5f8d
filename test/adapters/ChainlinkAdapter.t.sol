// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {AdapterFixture} from "./AdapterFixture.sol";
import {AggregatorV3Interface} from "./ExternalInterfaces.sol";

contract ChainlinkAdapterTest is AdapterFixture {
    AggregatorV3Interface private feed;

    function setUp() public override {
        super.setUp();
        feed = _feed(KEY, 8);
        subscribe(address(feed));
    }

    function test_constructor_keepsItsSettings() public view {
        assertEq(feed.decimals(), 8);
        assertEq(feed.description(), string(KEY));
        assertEq(feed.version(), 1);
    }

    function testFuzz_latestRoundData_answersWhatIsStored(uint256 value, uint256 decimals, uint256 age) public {
        value = bound(value, 1e18, type(uint208).max);
        decimals = bound(decimals, 0, 18);
        AggregatorV3Interface any = _feed(KEY, decimals);
        subscribe(address(any));
        store(value, START + 60);
        vm.warp(START + 60 + bound(age, 0, 29 days));
        (uint80 round, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredIn) = any.latestRoundData();
        // forge-lint: disable-next-line(unsafe-typecast)
        assertEq(uint256(answer), value / 10 ** (18 - decimals));
        assertEq(updatedAt, START + 60, "the age of the value must be visible");
        assertEq(startedAt, updatedAt);
        assertEq(round, updatedAt);
        assertEq(answeredIn, round);
        bytes memory latest = abi.encode(round, answer, startedAt, updatedAt, answeredIn);
        (round, answer, startedAt, updatedAt, answeredIn) = any.getRoundData(round);
        assertEq(abi.encode(round, answer, startedAt, updatedAt, answeredIn), latest);
    }

    function testFuzz_latestRoundData_readsEveryKeyThatFits(uint256 length) public {
        length = bound(length, 68, 96);
        bytes memory key = bytes.concat("WEB/", _slice(bytes(vm.toString(keccak256("spec"))), 2, 64));
        if (length > 68) key = bytes.concat(key, "/");
        while (key.length < length) key = bytes.concat(key, "a");
        vm.mockCall(address(dataset), abi.encodeCall(IDataset.keyForm, ()), abi.encode(KeyForm.WEB_ORACLE));
        AggregatorV3Interface any = _feed(key, 18);
        assertEq(any.description(), string(key));
        subscribe(address(any));
        vm.mockCallRevert(address(dataset), abi.encodeCall(IDataset.read, (key)), "the key");
        vm.expectRevert("the key");
        any.latestRoundData();
    }

    function test_latestRoundData_RevertWhen_theStatusIsNotOK() public {
        storeNoData(START + 60);
        _refuses(feed, 0);
        storeDisagreement(START + 61);
        _refuses(feed, 0);
        store(1e18, START + 62);
        assertGt(_answer(feed), 0);

        AggregatorV3Interface empty = _feed("SPOTPX/BTC-USD", 8);
        subscribe(address(empty));
        _refuses(empty, 0);
    }

    function test_latestRoundData_RevertWhen_theAnswerIsZero() public {
        store(1e10 - 1, START + 60);
        _refuses(feed, 0);
        store(0, START + 61);
        _refuses(feed, 0);
        store(1e10, START + 62);
        assertEq(_answer(feed), 1);
    }

    function testFuzz_getRoundData_RevertWhen_theRoundIsNotTheStoredOne(uint80 id) public {
        vm.assume(id != START);
        vm.expectRevert("No data present");
        feed.getRoundData(id);
    }

    function test_latestRoundData_RevertWhen_noSubscriptionRuns() public {
        AggregatorV3Interface other = _feed(KEY, 8);
        vm.expectRevert(subscriptionNeeded(address(other)));
        other.latestRoundData();
        vm.warp(dataset.subscribedUntil(address(feed)) + 1);
        vm.expectRevert(subscriptionNeeded(address(feed)));
        feed.latestRoundData();
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
        assertGt(_answer(feed), 0);
    }

    /// What follows a short answer in memory is not taken for a part of it.
    function testFuzz_latestRoundData_RevertWhen_theAnswerIsTooShort(uint256 length) public {
        bytes memory answer = _slice(abi.encode(3000e18, START, Oracle.QueryStatus.OK), 0, bound(length, 0, 95));
        vm.mockCall(address(dataset), abi.encodeCall(IDataset.read, (KEY)), answer);
        (bool isDone, bytes memory reason) = address(feed).staticcall(abi.encodeCall(feed.latestRoundData, ()));
        assertFalse(isDone);
        assertEq(reason, answer);
    }

    function test_constructor_RevertWhen_theSettingsAreWrong() public {
        bytes memory code = vm.getCode("ChainlinkAdapter.sol:ChainlinkAdapter");
        assertRefused(
            code, abi.encode(dataset, KEY, 19), abi.encodeWithSignature("TooManyDecimals(uint256,uint256)", 19, 18)
        );
        assertRefused(
            code, abi.encode(dataset, "", 8), abi.encodeWithSignature("WrongKeyLength(uint256,uint256)", 0, 96)
        );
        assertRefused(
            code,
            abi.encode(dataset, new bytes(97), 8),
            abi.encodeWithSignature("WrongKeyLength(uint256,uint256)", 97, 96)
        );
        assertRefused(
            code,
            abi.encode(dataset, "spotpx/btc-usd", 8),
            abi.encodeWithSelector(IDataset.InvalidKey.selector, "spotpx/btc-usd")
        );
    }

    /// Neither an account without code, nor another contract, nor a dataset of bytes.
    function test_constructor_RevertWhen_itsDatasetHasNoNumbers() public {
        bytes memory code = vm.getCode("ChainlinkAdapter.sol:ChainlinkAdapter");
        address[2] memory others = [makeAddr("account"), address(feed)];
        for (uint256 i = 0; i < others.length; ++i) {
            assertRefused(
                code, abi.encode(others[i], KEY, 8), abi.encodeWithSignature("NotANumberDataset(address)", others[i])
            );
        }
        vm.mockCall(address(dataset), abi.encodeCall(IDataset.judgement, ()), abi.encode(IDataset.Judgement.MAJORITY));
        assertRefused(code, abi.encode(dataset, KEY, 8), abi.encodeWithSignature("NotANumberDataset(address)", dataset));
    }

    function _feed(bytes memory key, uint256 decimals) private returns (AggregatorV3Interface) {
        return
            AggregatorV3Interface(
                deployCode("ChainlinkAdapter.sol:ChainlinkAdapter", abi.encode(dataset, key, decimals))
            );
    }

    function _answer(AggregatorV3Interface any) private view returns (int256 answer) {
        (, answer,,,) = any.latestRoundData();
    }

    function _refuses(AggregatorV3Interface any, uint80 id) private {
        vm.expectRevert("No data present");
        any.latestRoundData();
        vm.expectRevert("No data present");
        any.getRoundData(id);
    }

    function _slice(bytes memory data, uint256 from, uint256 length) private pure returns (bytes memory part) {
        part = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            part[i] = data[from + i];
        }
    }
}
