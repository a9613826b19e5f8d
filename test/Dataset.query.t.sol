// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../src/Oracle.sol";
import {DatasetSettings, IDataset} from "../src/interfaces/IDataset.sol";
import {KeyForm} from "../src/types/KeyForm.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Providers} from "./utils/Providers.sol";
import {Update} from "./utils/UpdateArguments.sol";

contract DatasetQueryTest is DatasetFixture {
    bytes32 private median;

    function setUp() public override {
        super.setUp();
        Update memory update = validUpdate();
        update.send(dataset);
        median = update.value;
    }

    function test_query_hasThePublishedSignatures() public pure {
        assertEq(Oracle.query.selector, bytes4(keccak256("query(bytes)")));
        assertEq(Oracle.queryPrice.selector, bytes4(keccak256("queryPrice()")));
        assertEq(uint256(Oracle.QueryStatus.INVALID), 0);
        assertEq(uint256(Oracle.QueryStatus.OK), 1);
        assertEq(uint256(Oracle.QueryStatus.NOT_AVAILABLE), 2);
        assertEq(uint256(Oracle.QueryStatus.DISAGREEMENT), 3);
    }

    function test_query_answersTheSameToHexAndASCII() public {
        assertAnswer(dataset, hex"53504f5450582f4554482d555344", median, START, Oracle.QueryStatus.OK);
    }

    function test_query_answersInvalidToAnotherForm() public {
        assertAnswer(dataset, "", 0, 0, Oracle.QueryStatus.INVALID);
        assertAnswer(dataset, "S", 0, 0, Oracle.QueryStatus.INVALID);
        assertAnswer(dataset, "SPOTPX/eth-usd", 0, 0, Oracle.QueryStatus.INVALID);
        assertAnswer(dataset, "SPOTPX/ETH-USD\x00", 0, 0, Oracle.QueryStatus.INVALID);
        assertAnswer(dataset, new bytes(257), 0, 0, Oracle.QueryStatus.INVALID);
    }

    function test_query_knowsTheFormOfItsOwnDatasetOnly() public {
        DatasetSettings memory settings = settings(providers);
        settings.keyForm = KeyForm.WEB_ORACLE;
        IDataset web = deploy(settings);
        bytes memory key = bytes.concat("WEB/", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
        assertAnswer(web, key, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
        assertAnswer(web, KEY, 0, 0, Oracle.QueryStatus.INVALID);
        assertAnswer(dataset, key, 0, 0, Oracle.QueryStatus.INVALID);
    }

    // ---------------------------------------------------------------- payment

    function testFuzz_query_RevertWhen_notPaidExactly(uint256 sent, uint256 price) public {
        price = bound(price, 0, PRICE_CEILING);
        sent = sent % 2 == 0 ? price + 1 : sent % 4 == 1 && price > 0 ? price - 1 : bound(sent, 0, 1 ether);
        vm.assume(sent != price);
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongPayment.selector, sent, price));
        dataset.query{value: sent}(KEY);
    }

    function testFuzz_query_costsThePriceEachTime(uint256 times, uint256 price) public {
        times = bound(times, 1, 20);
        price = bound(price, 0, PRICE_CEILING);
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
        uint256 purse = address(this).balance;
        for (uint256 i = 0; i < times; ++i) {
            dataset.query{value: price}(KEY);
        }
        assertEq(address(dataset).balance, times * price);
        assertEq(address(this).balance, purse - times * price);
    }

    function test_query_isChargedWhateverTheStatus() public {
        query(dataset, KEY);
        query(dataset, "SPOTPX/BTC-USD");
        query(dataset, "nonsense");
        vm.warp(START + 1);
        providers.reportNoData(dataset, KEY, START + 1, 3).sendNotAvailable(dataset);
        query(dataset, KEY);
        assertEq(address(dataset).balance, 4 * PRICE);
    }

    function test_queryPrice_answersAnAccountWithoutEtherAndWritesNothing() public {
        address pauper = makeAddr("pauper");
        vm.record();
        vm.prank(pauper);
        assertEq(dataset.queryPrice(), PRICE);
        (, bytes32[] memory writes) = vm.accesses(address(dataset));
        assertEq(writes.length, 0);
    }

    // ---------------------------------------------------------------- callers

    // The payment is the only condition.
    function testFuzz_query_answersAnyCaller(address caller) public {
        vm.assume(caller != address(vm) && caller != address(dataset));
        vm.deal(caller, PRICE);
        vm.prank(caller);
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = dataset.query{value: PRICE}(KEY);
        assertEq(output, median);
        assertEq(updatedAt, START);
        assertEq(status, Oracle.QueryStatus.OK);
        assertEq(caller.balance, 0);
    }

    function test_query_answersAContractWithoutReceive() public {
        NoReceive reader = new NoReceive{value: PRICE}();
        assertEq(reader.read(dataset, KEY), median);
        assertEq(address(reader).balance, 0);
    }

    function test_query_answersAConstructor() public {
        assertEq(new ReadsInConstructor{value: PRICE}(dataset, KEY).output(), median);
    }

    // ---------------------------------------------------------------- other datasets

    function test_query_sharesNoDataWithAnotherDataset() public {
        IDataset other = deploy(providers);
        assertAnswer(other, KEY, 0, 0, Oracle.QueryStatus.NOT_AVAILABLE);
        Update memory update = providers.report(other, KEY, START, agreeing(4, 7));
        update.send(other);
        assertAnswer(other, KEY, update.value, START, Oracle.QueryStatus.OK);
        assertAnswer(dataset, KEY, median, START, Oracle.QueryStatus.OK);
    }

    function test_setters_shareNothingWithAnotherDataset() public {
        IDataset other = deploy(providers);
        bytes32 committee = dataset.committeeHash();
        Providers others = new Providers(7, 5);
        address[] memory members = others.members();
        vm.startPrank(OWNER);
        other.setQueryPrice(1);
        other.setCommittee(members, 5);
        assertEq(dataset.queryPrice(), PRICE);
        assertEq(dataset.committeeHash(), committee);
        assertNotEq(other.committeeHash(), committee);
    }
}

contract NoReceive {
    constructor() payable {}

    function read(Oracle oracle, bytes calldata key) external returns (bytes32 output) {
        (output,,) = oracle.query{value: oracle.queryPrice()}(key);
    }
}

contract ReadsInConstructor {
    bytes32 public output;

    constructor(Oracle oracle, bytes memory key) payable {
        (output,,) = oracle.query{value: oracle.queryPrice()}(key);
    }
}

contract MajorityQueryTest is DatasetQueryTest {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
