// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle, OracleProtocol, usingOracleProtocol} from "../src/usingOracleProtocol.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {OracleStub} from "./utils/OracleStub.sol";
import {Update} from "./utils/UpdateArguments.sol";

/// @notice Tests the helpers against an oracle that answers anything.
contract UsingOracleProtocolTest is Test {
    uint256 private constant NOW = 1_790_000_000;
    uint256 private constant MAX_PRICE = 0.001 ether;
    bytes private constant WEB_KEY = "WEB/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff/London";

    OracleStub private oracle;
    Consumer private consumer;

    function setUp() public {
        vm.warp(NOW);
        oracle = new OracleStub();
        consumer = new Consumer{value: 1 ether}();
    }

    function testFuzz_querySpotPrice_queriesSPOTPXAndThePair(string memory pair) public {
        oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
        consumer.spotPrice(oracle, pair);
        assertEq(oracle.asked(), bytes.concat("SPOTPX/", bytes(pair)));
        consumer.spotPrice(oracle, "ETH-USD");
        assertEq(oracle.asked(), "SPOTPX/ETH-USD");
        consumer.spotPriceWithExpiry(oracle, pair, 0);
        assertEq(oracle.asked(), bytes.concat("SPOTPX/", bytes(pair)));
    }

    function test_querySpotPriceWithExpiry_endsASecondAfterTheAge() public {
        oracle.setAnswer(bytes32(uint256(7)), NOW - 600, Oracle.QueryStatus.OK);
        assertEq(consumer.spotPriceWithExpiry(oracle, "ETH-USD", 10 minutes), 7);
        vm.warp(NOW + 1);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 601, 600));
        consumer.spotPriceWithExpiry(oracle, "ETH-USD", 10 minutes);
    }

    // ---------------------------------------------------------------- any key

    function testFuzz_queryBytes32_answersTheOutput(bytes32 output, uint256 updatedAt) public {
        oracle.setAnswer(output, updatedAt, Oracle.QueryStatus.OK);
        assertEq(consumer.bytes32Of(oracle, WEB_KEY), output);
        assertEq(consumer.uintOf(oracle, WEB_KEY), uint256(output));
        assertEq(consumer.spotPrice(oracle, "ETH-USD"), uint256(output));
    }

    function testFuzz_tryQuery_answersWhatTheOracleDoes(bytes32 output, uint256 updatedAt, uint8 status) public {
        Oracle.QueryStatus status_ = Oracle.QueryStatus(status % 4);
        oracle.setAnswer(output, updatedAt, status_);
        (bytes32 gotOutput, uint256 gotUpdatedAt, Oracle.QueryStatus gotStatus) = consumer.tryOf(oracle, WEB_KEY);
        assertEq(gotOutput, output);
        assertEq(gotUpdatedAt, updatedAt);
        assertEq(uint8(gotStatus), uint8(status_));
    }

    /// Every helper passes the key on unchanged and pays the price once, out of the consumer's balance.
    function testFuzz_query_queriesTheKeyAndPaysThePrice(bytes memory key, uint256 price) public {
        price = bound(price, 0, MAX_PRICE);
        uint256 purse = address(this).balance;
        for (uint256 i = 0; i < 5; ++i) {
            oracle = new OracleStub();
            oracle.setPrice(price);
            oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
            _read(i, key);
            assertEq(oracle.asked(), key);
            assertEq(oracle.paid(), price);
            assertEq(address(oracle).balance, price);
            assertEq(address(consumer).balance, 1 ether - (i + 1) * price);
        }
        assertEq(address(this).balance, purse);
    }

    function testFuzz_query_RevertWhen_theBalanceIsTooSmall(uint256 balance, uint256 price) public {
        price = bound(price, 1, MAX_PRICE);
        balance = bound(balance, 0, price - 1);
        consumer = new Consumer{value: balance}();
        oracle.setPrice(price);
        oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
        for (uint256 i = 0; i < 5; ++i) {
            vm.expectRevert(_insufficientBalance(balance, price));
            _read(i, WEB_KEY);
        }
    }

    /// A helper's assembly does the same as `tryQuery` in plain Solidity, whatever account it asks.
    function testFuzz_query_equalsTheSameInPlainSolidity(
        uint256 price,
        uint256 balance,
        bytes32[3] memory words,
        uint256 length,
        bool isReverting,
        uint256 maxAge
    ) public {
        words[1] = bytes32(bound(uint256(words[1]), 0, 2 * NOW));
        words[2] = bytes32(bound(uint256(words[2]), 0, 5));
        bytes memory answer = abi.encodePacked(words);
        length = bound(length, 0, 2 * answer.length);
        AnyAccount account = new AnyAccount(bound(price, 0, MAX_PRICE + 1), answer, length, isReverting);
        consumer = new Consumer{value: bound(balance, MAX_PRICE / 2, 2 * MAX_PRICE)}();
        uint256 state = vm.snapshotState();
        (bool isDone, bytes memory result) =
            _call(abi.encodeCall(consumer.bytes32WithExpiry, (account, WEB_KEY, maxAge)));
        uint256 left = address(consumer).balance;
        vm.revertToState(state);
        (bool isDonePlainly, bytes memory expected) =
            _call(abi.encodeCall(consumer.plainly, (account, WEB_KEY, maxAge)));
        assertEq(isDone, isDonePlainly);
        assertEq(left, address(consumer).balance);
        // The compiler's code reverts without a reason when it cannot decode an answer.
        if (isDone || expected.length != 0) assertEq(result, expected);
    }

    function test_query_RevertWhen_theAccountIsNoOracle() public {
        address[2] memory accounts = [makeAddr("no code"), address(this)];
        for (uint256 i = 0; i < 10; ++i) {
            oracle = OracleStub(accounts[i / 5]);
            vm.expectRevert(abi.encodeWithSelector(OracleProtocol.NotAnOracle.selector, oracle));
            _read(i % 5, WEB_KEY);
        }
    }

    /// What follows a short answer in memory is not taken for a part of it.
    function test_query_RevertWhen_theAnswerIsTooShort() public {
        bytes memory answer = abi.encodePacked(bytes32(0), NOW, bytes31(0));
        AnyAccount account = new AnyAccount(0, answer, answer.length, false);
        vm.expectRevert(answer);
        consumer.bytes32WithExpiry(account, WEB_KEY, 1 days);
    }

    /// The oracle's own reason is passed on, also if the query would take the last wei.
    function testFuzz_query_RevertWhen_theOracleReverts(uint256 price, bytes4 selector, bytes calldata rest) public {
        price = bound(price, 0, MAX_PRICE);
        bytes memory reason = bytes.concat(selector, rest);
        AnyAccount account = new AnyAccount(price, reason, reason.length, true);
        consumer = new Consumer{value: price}();
        _assertQueriesRevert(account, reason);
    }

    /// An error has four bytes or more: what is shorter is no reason that an oracle gives.
    function testFuzz_query_RevertWhen_thePriceReverts(bytes4 selector, bytes calldata rest, uint256 length) public {
        length = bound(length, 0, 5);
        bytes memory reason = bytes.concat(selector, rest);
        if (length < 4) {
            assembly ("memory-safe") {
                mstore(reason, length)
            }
        }
        vm.mockCallRevert(address(oracle), abi.encodeCall(Oracle.queryPrice, ()), reason);
        if (length < 4) reason = abi.encodeWithSelector(OracleProtocol.NotAnOracle.selector, oracle);
        _assertQueriesRevert(oracle, reason);
    }

    function testFuzz_queryWithExpiry_answersUpToTheAge(bytes32 output, uint256 maxAge, uint256 age) public {
        age = bound(age, 0, NOW);
        maxAge = bound(maxAge, age, type(uint256).max);
        oracle.setAnswer(output, NOW - age, Oracle.QueryStatus.OK);
        assertEq(consumer.bytes32WithExpiry(oracle, WEB_KEY, maxAge), output);
        assertEq(consumer.uintWithExpiry(oracle, WEB_KEY, maxAge), uint256(output));
        assertEq(consumer.spotPriceWithExpiry(oracle, "ETH-USD", maxAge), uint256(output));
    }

    // ---------------------------------------------------------------- the maximum price

    /// A consumer that passes no maximum pays no price above the default, whoever raised it, and whenever.
    function testFuzz_query_RevertWhen_thePriceIsAboveTheDefault(uint256 price) public {
        oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
        oracle.setPrice(MAX_PRICE);
        consumer.spotPrice(oracle, "ETH-USD");
        uint256 left = address(consumer).balance;
        oracle.setPrice(price = bound(price, MAX_PRICE + 1, type(uint256).max));
        bytes memory reason = abi.encodeWithSelector(OracleProtocol.PriceTooHigh.selector, price, MAX_PRICE);
        for (uint256 i = 0; i < 5; ++i) {
            vm.expectRevert(reason);
            _read(i, WEB_KEY);
        }
        vm.expectRevert(reason);
        consumer.spotPrice(oracle, "ETH-USD");
        vm.expectRevert(reason);
        consumer.spotPriceWithExpiry(oracle, "ETH-USD", 1);
        assertEq(address(consumer).balance, left);
    }

    /// With a maximum, every helper pays the price up to it, and not a wei above it.
    function testFuzz_queryWithMaxPrice_paysUpToTheMaximum(uint256 price, uint256 maxPrice) public {
        price = bound(price, 0, 0.1 ether);
        MaxPriceConsumer payer = new MaxPriceConsumer{value: 1 ether}();
        oracle.setPrice(price);
        oracle.setAnswer(bytes32(uint256(7)), NOW, Oracle.QueryStatus.OK);
        uint256 enough = bound(maxPrice, price, type(uint256).max);
        for (uint256 i = 0; i < 7; ++i) {
            assertEq(payer.read(i, oracle, enough), 7);
            assertEq(oracle.paid(), price);
            assertEq(oracle.asked(), "SPOTPX/ETH-USD");
            assertEq(address(payer).balance, 1 ether - (i + 1) * price);
        }
        if (price == 0) return;
        uint256 tooLow = bound(maxPrice, 0, price - 1);
        for (uint256 i = 0; i < 7; ++i) {
            vm.expectRevert(abi.encodeWithSelector(OracleProtocol.PriceTooHigh.selector, price, tooLow));
            payer.read(i, oracle, tooLow);
        }
    }

    function testFuzz_queryWithMaxPrice_RevertWhen_thereIsNoValue(uint8 status, uint256 age) public {
        MaxPriceConsumer payer = new MaxPriceConsumer();
        Oracle.QueryStatus status_ = _notOK(status);
        oracle.setAnswer(0, NOW, status_);
        for (uint256 i = 0; i < 6; ++i) {
            vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, status_));
            payer.read(i, oracle, 0);
        }
        age = bound(age, 11, NOW);
        oracle.setAnswer(0, NOW - age, Oracle.QueryStatus.OK);
        for (uint256 i = 1; i < 6; i += 2) {
            vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, age, 10));
            payer.read(i, oracle, 0);
        }
    }

    /// Calls one of the helpers that take a key. The last one does not revert for any status.
    function _read(uint256 helper, bytes memory key) private {
        if (helper == 0) consumer.bytes32Of(oracle, key);
        else if (helper == 1) consumer.bytes32WithExpiry(oracle, key, type(uint256).max);
        else if (helper == 2) consumer.uintOf(oracle, key);
        else if (helper == 3) consumer.uintWithExpiry(oracle, key, type(uint256).max);
        else consumer.tryOf(oracle, key);
    }

    function _call(bytes memory data) private returns (bool isDone, bytes memory result) {
        (isDone, result) = address(consumer).call(data);
    }

    /// @dev Both a helper in assembly and one in plain Solidity.
    function _assertQueriesRevert(Oracle account, bytes memory reason) private {
        (bool isDone, bytes memory answer) = _call(abi.encodeCall(consumer.uintOf, (account, WEB_KEY)));
        assertFalse(isDone);
        assertEq(answer, reason);
        (isDone, answer) = _call(abi.encodeCall(consumer.tryOf, (account, WEB_KEY)));
        assertFalse(isDone);
        assertEq(answer, reason);
    }

    function _insufficientBalance(uint256 balance, uint256 price) private pure returns (bytes memory) {
        return abi.encodeWithSelector(OracleProtocol.InsufficientBalance.selector, balance, price);
    }

    function _notOK(uint8 status) private pure returns (Oracle.QueryStatus) {
        uint8[3] memory others = [0, 2, 3];
        return Oracle.QueryStatus(others[status % 3]);
    }
}

/// @notice Tests the helpers against a dataset as it is deployed.
contract UsingOracleProtocolDatasetTest is DatasetFixture {
    Consumer private consumer;

    function setUp() public override {
        super.setUp();
        consumer = new Consumer{value: PRICE}();
    }

    function test_querySpotPrice_paysADatasetExactly() public {
        Update memory update = validUpdate();
        update.send(dataset);
        assertEq(consumer.spotPrice(dataset, "ETH-USD"), uint256(update.value));
        assertEq(address(consumer).balance, 0);
        assertEq(address(dataset).balance, PRICE);
    }
}

contract Consumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    constructor() payable {}

    function spotPrice(Oracle oracle, string calldata pair) external returns (uint256) {
        return oracle.querySpotPrice(pair);
    }

    function spotPriceWithExpiry(Oracle oracle, string calldata pair, uint256 maxAge) external returns (uint256) {
        return oracle.querySpotPriceWithExpiry(pair, maxAge);
    }

    function bytes32Of(Oracle oracle, bytes calldata key) external returns (bytes32) {
        return oracle.queryBytes32(key);
    }

    function bytes32WithExpiry(Oracle oracle, bytes calldata key, uint256 maxAge) external returns (bytes32) {
        return oracle.queryBytes32WithExpiry(key, maxAge);
    }

    function uintOf(Oracle oracle, bytes calldata key) external returns (uint256) {
        return oracle.queryUint(key);
    }

    function uintWithExpiry(Oracle oracle, bytes calldata key, uint256 maxAge) external returns (uint256) {
        return oracle.queryUintWithExpiry(key, maxAge);
    }

    function plainly(Oracle oracle, bytes calldata key, uint256 maxAge) external returns (bytes32) {
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = oracle.tryQuery(key);
        if (status != Oracle.QueryStatus.OK) revert OracleProtocol.BadQueryStatus(status);
        uint256 age = updatedAt < block.timestamp ? block.timestamp - updatedAt : 0;
        if (age > maxAge) revert OracleProtocol.DataExpired(age, maxAge);
        return output;
    }

    function tryOf(Oracle oracle, bytes calldata key) external returns (bytes32, uint256, Oracle.QueryStatus) {
        return oracle.tryQuery(key);
    }
}

/// @dev Passes a maximum price to each of the seven helpers; every second one has an expiry of ten seconds.
contract MaxPriceConsumer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    constructor() payable {}

    function read(uint256 helper, Oracle oracle, uint256 maxPrice) external returns (uint256 value) {
        bytes memory key = "SPOTPX/ETH-USD";
        if (helper == 0) return oracle.querySpotPrice("ETH-USD", maxPrice);
        if (helper == 1) return oracle.querySpotPriceWithExpiry("ETH-USD", 10, maxPrice);
        if (helper == 2) return oracle.queryUint(key, maxPrice);
        if (helper == 3) return oracle.queryUintWithExpiry(key, 10, maxPrice);
        if (helper == 4) return uint256(oracle.queryBytes32(key, maxPrice));
        if (helper == 5) return uint256(oracle.queryBytes32WithExpiry(key, 10, maxPrice));
        (bytes32 output,,) = oracle.tryQuery(key, maxPrice);
        return uint256(output);
    }
}

/// @dev Has a price, and answers anything, of any length, to a query.
contract AnyAccount is Oracle {
    uint256 public immutable queryPrice;
    bytes private _answer;
    uint256 private immutable _length;
    bool private immutable _isReverting;

    constructor(uint256 price, bytes memory answer, uint256 length, bool isReverting) {
        (queryPrice, _answer, _length, _isReverting) = (price, answer, length, isReverting);
    }

    function query(bytes calldata) external payable returns (bytes32, uint256, QueryStatus) {
        bytes memory answer = _answer;
        (uint256 length, bool isReverting) = (_length, _isReverting);
        assembly ("memory-safe") {
            if isReverting { revert(add(answer, 0x20), length) }
            return(add(answer, 0x20), length)
        }
    }
}
