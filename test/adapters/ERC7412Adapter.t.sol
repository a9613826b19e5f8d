// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {ERC7412Adapter} from "../../src/adapters/ERC7412Adapter.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {IERC7412} from "../../src/interfaces/IERC7412.sol";
import {IUpdateGateway} from "../../src/interfaces/IUpdateGateway.sol";
import {UpdateCalldata} from "../../src/libraries/UpdateCalldata.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Update, isUpdateSelector} from "../utils/UpdateArguments.sol";

/// @dev A consumer as a team in the Synthetix ecosystem would write it: it knows its oracle, and nothing about clients.
contract Market {
    ERC7412Adapter private immutable ORACLE;

    uint256 public price;

    constructor(ERC7412Adapter oracle) payable {
        ORACLE = oracle;
    }

    function settle() external {
        uint256 fee = ORACLE.dataset().queryPrice();
        (bytes32 output,, Oracle.QueryStatus status) = ORACLE.query{value: fee}("SPOTPX/ETH-USD", 10);
        require(status == Oracle.QueryStatus.OK);
        price = uint256(output);
    }
}

contract ERC7412AdapterTest is DatasetFixture {
    ERC7412Adapter private adapter;
    Market private market;

    function setUp() public override {
        super.setUp();
        adapter = new ERC7412Adapter(dataset);
        market = new Market{value: 1 ether}(adapter);
    }

    function test_aConsumersCallSucceedsOnceTheClientHasPutTheUpdateInFront() public {
        (bool isDone, bytes memory reason) = address(market).call(abi.encodeCall(Market.settle, ()));
        assertFalse(isDone);
        assertEq(reason, required());

        Update memory update = validUpdate();
        adapter.fulfillOracleQuery(update.encode());
        market.settle();
        assertEq(market.price(), uint256(update.value));
        assertEq(address(dataset).balance, PRICE);
    }

    function testFuzz_query_RevertWhen_theStoredValueIsTooOld(uint256 age, uint256 maxAge) public {
        age = bound(age, 1, 10 * 365 days);
        maxAge = bound(maxAge, 0, age - 1);
        validUpdate().send(dataset);
        skip(age);
        vm.expectRevert(required());
        adapter.query{value: PRICE}(KEY, maxAge);
    }

    function test_query_answersWhatADatasetAnswersWhateverItsStatus() public {
        validNoDataUpdate().sendNotAvailable(dataset);
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = adapter.query{value: PRICE}(KEY, 0);
        assertEq(output, 0);
        assertEq(updatedAt, START);
        assertEq(status, Oracle.QueryStatus.NOT_AVAILABLE);
        (,, status) = adapter.query{value: PRICE}("ETH-USD", 0);
        assertEq(status, Oracle.QueryStatus.INVALID);
    }

    function testFuzz_query_RevertWhen_thePaymentIsNotThePrice(uint256 sent) public {
        sent = bound(sent, 0, 1 ether);
        vm.assume(sent != PRICE);
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongPayment.selector, sent, PRICE));
        adapter.query{value: sent}(KEY, 10);
    }

    function test_read_answersWhileTheAdapterIsSubscribed() public {
        dataset.subscribe{value: SUBSCRIPTION_PRICE}(address(adapter), 1);
        vm.expectRevert(required());
        adapter.read(KEY, 10);
        Update memory update = validUpdate();
        adapter.fulfillOracleQuery(update.encode());
        (bytes32 output,,) = adapter.read(KEY, 10);
        assertEq(output, update.value);
    }

    function test_read_RevertWhen_noSubscriptionRuns() public {
        vm.expectRevert(
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, address(adapter), SUBSCRIPTION_PRICE, 30 days)
        );
        adapter.read(KEY, 10);
    }

    function test_fulfillOracleQuery_takesAnUpdateThatAnotherSenderHasStored() public {
        Update memory update = validUpdate();
        update.send(dataset);
        adapter.fulfillOracleQuery(update.encode());
        assertAnswer(dataset, KEY, update.value, START, Oracle.QueryStatus.OK);
    }

    function test_fulfillOracleQuery_storesALackOfData() public {
        adapter.fulfillOracleQuery(validNoDataUpdate().encodeNotAvailable());
        assertAnswer(dataset, KEY, 0, START, Oracle.QueryStatus.NOT_AVAILABLE);
    }

    function test_fulfillOracleQuery_RevertWhen_theUpdateIsForged() public {
        Update memory update = validUpdate();
        update.reports[0].content = bytes32(uint256(update.value) + 1);
        vm.expectRevert(wrongCommittee(update));
        adapter.fulfillOracleQuery(update.encode());
    }

    function testFuzz_fulfillOracleQuery_RevertWhen_theDataIsNoUpdate(bytes memory data) public {
        bytes4 selector_ = data.length < 4 ? bytes4(0) : selector(data);
        vm.assume(!isUpdateSelector(selector_));
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, selector_));
        adapter.fulfillOracleQuery(data);
    }

    function testFuzz_fulfillOracleQuery_RevertWhen_itIsPaidFor(uint96 sent) public {
        vm.assume(sent != 0);
        vm.deal(address(this), sent);
        bytes memory data = validUpdate().encode();
        vm.expectRevert(abi.encodeWithSelector(ERC7412Adapter.NoFeeNeeded.selector, sent));
        adapter.fulfillOracleQuery{value: sent}(data);
    }

    function test_oracleId_isTheProjects() public view {
        bytes32 id = "DATASET_ORACLE";
        assertEq(adapter.oracleId(), id);
    }

    function required() private view returns (bytes memory) {
        return abi.encodeWithSelector(
            IERC7412.OracleDataRequired.selector,
            address(adapter),
            abi.encodeCall(IUpdateGateway.fetchUpdate, (dataset, KEY))
        );
    }
}
