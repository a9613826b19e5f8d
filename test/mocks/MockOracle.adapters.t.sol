// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {MockOracle} from "../../src/mocks/MockOracle.sol";
import {Asset, IKeyList, Token} from "../adapters/AdapterFixture.sol";
import {AggregatorV3Interface, IMorphoOracle, IPriceOracle, IPyth} from "../adapters/ExternalInterfaces.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";

/// @notice Tests the adapters on a MockOracle, as a project that uses them does, and that it reads and sells
/// subscriptions as a dataset does.
contract MockOracleAdaptersTest is DatasetFixture {
    uint256 private constant MAX_AGE = 1 hours;
    address private constant USD = address(840);

    address private immutable ETH = address(new Token(18));

    MockOracle private oracle;
    AggregatorV3Interface private chainlink;
    IPyth private pyth;
    IPriceOracle private quotes;
    IMorphoOracle private morpho;
    bytes32 private id;

    function setUp() public override {
        super.setUp();
        oracle = new MockOracle();
        oracle.setSpotPrice("ETH-USD", 3000e18);
        chainlink =
            AggregatorV3Interface(deployCode("ChainlinkAdapter.sol:ChainlinkAdapter", abi.encode(oracle, KEY, 8)));
        pyth = IPyth(deployCode("PythAdapter.sol:PythAdapter", abi.encode(oracle, -8, 100)));
        id = IKeyList(address(pyth)).list(KEY);
        Asset[] memory assets = new Asset[](2);
        (assets[0], assets[1]) = (Asset(ETH, KEY), Asset(USD, ""));
        quotes = IPriceOracle(deployCode("QuoteAdapter.sol:QuoteAdapter", abi.encode(oracle, MAX_AGE, assets)));
        morpho = IMorphoOracle(deployCode("MorphoAdapter.sol:MorphoAdapter", abi.encode(quotes, ETH, USD)));
    }

    // ---------------------------------------------------------------- adapters

    function test_adapters_answerWhatIsSet() public {
        _assertPrice(3000, block.timestamp);
        oracle.setSpotPrice("ETH-USD", 3100e18, 5);
        _assertPrice(3100, block.timestamp - 5);
    }

    function test_adapters_showTheAge() public {
        oracle.setSpotPrice("ETH-USD", 3000e18, MAX_AGE);
        _assertPrice(3000, block.timestamp - MAX_AGE);
        skip(1);
        (,,, uint256 updatedAt,) = chainlink.latestRoundData();
        assertEq(block.timestamp - updatedAt, MAX_AGE + 1);
        vm.expectRevert(IPyth.StalePrice.selector);
        pyth.getPriceNoOlderThan(id, MAX_AGE);
        _expectUntrusted();
    }

    function test_adapters_RevertWhen_theStatusIsNotOK() public {
        oracle.setAnswer(KEY, 0, 0, Oracle.QueryStatus.DISAGREEMENT);
        vm.expectRevert("No data present");
        chainlink.latestRoundData();
        vm.expectRevert(IPyth.PriceFeedNotFound.selector);
        pyth.getPriceUnsafe(id);
        _expectUntrusted();
    }

    function test_adapters_RevertWhen_theyAreNotSubscribed() public {
        oracle.setQueryPrice(PRICE);
        oracle.setSubscriptionPrice(SUBSCRIPTION_PRICE);
        _expectSubscriptionNeeded();
        for (uint256 i = 0; i < 3; ++i) {
            oracle.subscribe{value: SUBSCRIPTION_PRICE}(_readers()[i], 1);
        }
        skip(30 days);
        oracle.setSpotPrice("ETH-USD", 3000e18);
        _assertPrice(3000, block.timestamp);
        skip(1);
        _expectSubscriptionNeeded();
        oracle.setQueryPrice(0);
        _assertPrice(3000, block.timestamp - 1);
    }

    // ---------------------------------------------------------------- as a dataset does

    /// Two calls each, so that the second one extends what the first one bought.
    function testFuzz_subscribe_doesWhatADatasetDoes(uint8[2] memory periods, bool[2] memory isExact, uint32 pause)
        public
    {
        oracle.setSubscriptionPrice(SUBSCRIPTION_PRICE);
        address reader = makeAddr("reader");
        for (uint256 i = 0; i < 2; ++i) {
            uint256 cost = periods[i] * SUBSCRIPTION_PRICE + (isExact[i] ? 0 : 1);
            _assertSame(abi.encodeCall(IDataset.subscribe, (reader, periods[i])), cost);
            assertEq(oracle.subscribedUntil(reader), dataset.subscribedUntil(reader));
            skip(pause);
        }
    }

    function testFuzz_read_isFreeForWhomADatasetIs(uint64 price, bool isSubscribed, uint32 pause, bool hasSender)
        public
    {
        price = uint64(bound(price, 0, PRICE));
        oracle.setQueryPrice(price);
        oracle.setSubscriptionPrice(SUBSCRIPTION_PRICE);
        vm.prank(OWNER);
        dataset.setQueryPrice(price);
        if (isSubscribed) {
            oracle.subscribe{value: SUBSCRIPTION_PRICE}(address(this), 1);
            dataset.subscribe{value: SUBSCRIPTION_PRICE}(address(this), 1);
        }
        skip(bound(pause, 0, 60 days));
        // No key is set, so that both answer the same.
        bytes memory call = abi.encodeCall(IDataset.read, ("SPOTPX/BTC-USD"));
        if (!hasSender) vm.startPrank(address(this), address(0));
        _assertSame(call, 0);
        // A verification costs a query, or nothing where a read does.
        (bool isRead,) = address(oracle).staticcall(call);
        bytes memory update = oracle.spotPriceUpdate("ETH-USD", 3000e18, 0);
        (bool isVerified,) = address(oracle).call(verificationOf(update));
        assertEq(isVerified, isRead);
    }

    // ---------------------------------------------------------------- helpers

    /// @dev A `MorphoAdapter` reads as its `QuoteAdapter`.
    function _readers() private view returns (address[3] memory) {
        return [address(chainlink), address(pyth), address(quotes)];
    }

    /// @dev Calls the mock and the dataset alike.
    function _assertSame(bytes memory call, uint256 value) private {
        (bool isDone, bytes memory answer) = address(oracle).call{value: value}(call);
        (bool isDoneByDataset, bytes memory expected) = address(dataset).call{value: value}(call);
        assertEq(isDone, isDoneByDataset);
        assertEq(answer, expected);
    }

    function _assertPrice(uint256 dollars, uint256 time) private view {
        (, int256 answer,, uint256 updatedAt,) = chainlink.latestRoundData();
        // forge-lint: disable-next-line(unsafe-typecast)
        assertEq(uint256(answer), dollars * 1e8);
        assertEq(updatedAt, time);
        IPyth.Price memory price = pyth.getPriceNoOlderThan(id, MAX_AGE);
        assertEq(uint64(price.price), dollars * 1e8);
        assertEq(price.publishTime, time);
        assertEq(quotes.getQuote(1e18, ETH, USD), dollars * 1e18);
        assertEq(morpho.price(), dollars * 1e36);
    }

    function _expectUntrusted() private {
        bytes memory untrusted = abi.encodeWithSelector(IPriceOracle.OracleUntrustedData.selector, ETH, USD);
        vm.expectRevert(untrusted);
        quotes.getQuote(1e18, ETH, USD);
        vm.expectRevert(untrusted);
        morpho.price();
    }

    function _expectSubscriptionNeeded() private {
        _expectSubscriptionNeededFor(address(chainlink));
        chainlink.latestRoundData();
        _expectSubscriptionNeededFor(address(pyth));
        pyth.getPriceUnsafe(id);
        _expectSubscriptionNeededFor(address(quotes));
        quotes.getQuote(1e18, ETH, USD);
        _expectSubscriptionNeededFor(address(quotes));
        morpho.price();
    }

    function _expectSubscriptionNeededFor(address reader) private {
        vm.expectRevert(
            abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, reader, SUBSCRIPTION_PRICE, 30 days)
        );
    }
}
