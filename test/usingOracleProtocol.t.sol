// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle, OracleProtocol, usingOracleProtocol} from "../src/usingOracleProtocol.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {OracleStub} from "./utils/OracleStub.sol";
import {Update} from "./utils/Providers.sol";

/// @notice S8, against an oracle that says anything.
contract UsingOracleProtocolTest is Test {
    uint256 private constant NOW = 1_790_000_000;

    OracleStub private oracle;
    Consumer private consumer;

    function setUp() public {
        vm.warp(NOW);
        oracle = new OracleStub();
        consumer = new Consumer{value: 1 ether}();
    }

    function testFuzz_querySpotPrice_answersTheOutput(uint256 rate, uint256 updatedAt) public {
        oracle.setAnswer(bytes32(rate), updatedAt, Oracle.QueryStatus.OK);
        assertEq(consumer.spotPrice(oracle, "ETH-USD"), rate);
    }

    function testFuzz_querySpotPrice_asksForSPOTPXAndThePair(string memory pair) public {
        oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
        consumer.spotPrice(oracle, pair);
        assertEq(oracle.asked(), bytes.concat("SPOTPX/", bytes(pair)));
        consumer.spotPrice(oracle, "ETH-USD");
        assertEq(oracle.asked(), "SPOTPX/ETH-USD");
        consumer.spotPriceWithExpiry(oracle, pair, 0);
        assertEq(oracle.asked(), bytes.concat("SPOTPX/", bytes(pair)));
    }

    function testFuzz_querySpotPrice_paysThePriceOutOfTheConsumersBalance(uint256 price) public {
        price = bound(price, 0, 1 ether);
        oracle.setPrice(price);
        oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
        uint256 purse = address(this).balance;
        consumer.spotPrice(oracle, "ETH-USD");
        assertEq(oracle.paid(), price);
        assertEq(address(consumer).balance, 1 ether - price);
        assertEq(address(this).balance, purse);
    }

    function test_querySpotPrice_RevertWhen_theBalanceIsTooSmall() public {
        oracle.setPrice(1 ether + 1);
        oracle.setAnswer(0, NOW, Oracle.QueryStatus.OK);
        vm.expectRevert(bytes(""));
        consumer.spotPrice(oracle, "ETH-USD");
        vm.expectRevert(bytes(""));
        consumer.spotPriceWithExpiry(oracle, "ETH-USD", 1);
    }

    function testFuzz_querySpotPrice_RevertWhen_theStatusIsNotOK(uint8 status, bytes32 output) public {
        Oracle.QueryStatus status_ = _notOK(status);
        oracle.setAnswer(output, NOW, status_);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, status_));
        consumer.spotPrice(oracle, "ETH-USD");
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, status_));
        consumer.spotPriceWithExpiry(oracle, "ETH-USD", type(uint256).max);
    }

    function testFuzz_querySpotPriceWithExpiry_answersUpToTheAge(uint256 rate, uint256 maxAge, uint256 age) public {
        age = bound(age, 0, NOW);
        maxAge = bound(maxAge, age, type(uint256).max);
        oracle.setAnswer(bytes32(rate), NOW - age, Oracle.QueryStatus.OK);
        assertEq(consumer.spotPriceWithExpiry(oracle, "ETH-USD", maxAge), rate);
    }

    function testFuzz_querySpotPriceWithExpiry_RevertWhen_older(uint256 maxAge, uint256 age) public {
        age = bound(age, 1, NOW);
        maxAge = bound(maxAge, 0, age - 1);
        oracle.setAnswer(0, NOW - age, Oracle.QueryStatus.OK);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, age, maxAge));
        consumer.spotPriceWithExpiry(oracle, "ETH-USD", maxAge);
    }

    function test_querySpotPriceWithExpiry_endsASecondAfterTheAge() public {
        oracle.setAnswer(bytes32(uint256(7)), NOW - 600, Oracle.QueryStatus.OK);
        assertEq(consumer.spotPriceWithExpiry(oracle, "ETH-USD", 10 minutes), 7);
        vm.warp(NOW + 1);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 601, 600));
        consumer.spotPriceWithExpiry(oracle, "ETH-USD", 10 minutes);
    }

    function testFuzz_querySpotPriceWithExpiry_takesTheFutureAsFresh(uint256 updatedAt) public {
        oracle.setAnswer(bytes32(uint256(7)), bound(updatedAt, NOW, type(uint256).max), Oracle.QueryStatus.OK);
        assertEq(consumer.spotPriceWithExpiry(oracle, "ETH-USD", 0), 7);
    }

    function _notOK(uint8 status) private pure returns (Oracle.QueryStatus) {
        uint8[3] memory others = [0, 2, 3];
        return Oracle.QueryStatus(others[status % 3]);
    }
}

/// @notice S8, against a dataset as it is shipped.
contract UsingOracleProtocolDatasetTest is DatasetFixture {
    Consumer private consumer;

    function setUp() public override {
        super.setUp();
        consumer = new Consumer{value: PRICE}();
    }

    function test_querySpotPrice_paysADatasetExactly() public {
        Update memory update = valid();
        update.send(dataset);
        assertEq(consumer.spotPrice(dataset, "ETH-USD"), uint256(update.value));
        assertEq(address(consumer).balance, 0);
        assertEq(address(dataset).balance, PRICE);
    }

    function test_querySpotPrice_RevertWhen_thePairIsSpelledWrongly() public {
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.INVALID));
        consumer.spotPrice(dataset, "eth-usd");
    }

    function test_querySpotPrice_readsInAConstructor() public {
        Update memory update = valid();
        update.send(dataset);
        assertEq(new ConsumesInConstructor{value: PRICE}(dataset).rate(), uint256(update.value));
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
}

contract ConsumesInConstructor is usingOracleProtocol {
    using OracleProtocol for Oracle;

    uint256 public rate;

    constructor(Oracle oracle) payable {
        rate = oracle.querySpotPrice("ETH-USD");
    }
}
