// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {AdapterFixture, Asset, IKeyList} from "../adapters/AdapterFixture.sol";
import {AggregatorV3Interface, IPriceOracle, IPyth} from "../adapters/ExternalInterfaces.sol";

interface IReadingConsumer {
    function read(address adapter, bytes calldata data, bool isReading) external view;
}

/// @notice Measures the gas that one reading of an adapter adds to a consumer's transaction, with cold storage.
/// forge-config: default.isolate = true
contract AdapterGasTest is AdapterFixture {
    IReadingConsumer private consumer;

    function setUp() public override {
        super.setUp();
        consumer = IReadingConsumer(deployCode("Consumers.sol:ReadingConsumer"));
    }

    function test_chainlink() public {
        address adapter = deployCode("ChainlinkAdapter.sol:ChainlinkAdapter", abi.encode(dataset, KEY, 8));
        _snapshot("Chainlink, latestRoundData", adapter, abi.encodeCall(AggregatorV3Interface.latestRoundData, ()));
        vm.snapshotValue("adapters", "Chainlink, bytes of code", adapter.code.length);
    }

    function test_pyth() public {
        address adapter = deployCode("PythAdapter.sol:PythAdapter", abi.encode(dataset, int32(-8), TOLERANCE_BPS));
        bytes32 id = IKeyList(adapter).list(KEY);
        _snapshot("Pyth, getPriceNoOlderThan", adapter, abi.encodeCall(IPyth.getPriceNoOlderThan, (id, 60)));
    }

    function test_quotes() public {
        store("SPOTPX/BTC-USD", 90_000e18, START);
        (address eth, address btc, address usd) = (makeAddr("ETH"), makeAddr("BTC"), address(840));
        Asset[] memory assets = new Asset[](3);
        (assets[0], assets[1], assets[2]) = (Asset(eth, KEY), Asset(btc, "SPOTPX/BTC-USD"), Asset(usd, ""));
        address adapter = deployCode("QuoteAdapter.sol:QuoteAdapter", abi.encode(dataset, 1 hours, assets));
        _snapshot("ERC-7726, getQuote", adapter, abi.encodeCall(IPriceOracle.getQuote, (1e18, eth, usd)));
        _snapshot("ERC-7726, getQuote, cross rate", adapter, abi.encodeCall(IPriceOracle.getQuote, (1e18, eth, btc)));
    }

    function _snapshot(string memory name, address adapter, bytes memory data) private {
        vm.prank(OWNER);
        dataset.setQueryPrice(0);
        _measure(string.concat(name, ", price 0"), adapter, data);
        vm.prank(OWNER);
        dataset.setQueryPrice(PRICE);
        subscribe(adapter);
        _measure(string.concat(name, ", subscribed"), adapter, data);
    }

    function _measure(string memory name, address adapter, bytes memory data) private {
        consumer.read(adapter, data, false);
        uint256 without = vm.lastCallGas().gasTotalUsed;
        consumer.read(adapter, data, true);
        vm.snapshotValue("adapters", name, vm.lastCallGas().gasTotalUsed - without);
    }
}
