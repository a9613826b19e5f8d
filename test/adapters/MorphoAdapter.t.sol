// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {AdapterFixture, Asset, Token} from "./AdapterFixture.sol";
import {IMorphoOracle, IPriceOracle} from "./ExternalInterfaces.sol";

contract MorphoAdapterTest is AdapterFixture {
    bytes private constant BTC_KEY = "SPOTPX/BTC-USD";
    uint256 private constant MAX_AGE = 1 hours;

    address private immutable BTC = address(new Token(8));
    address private immutable USDC = address(new Token(6));

    IPriceOracle private quotes;

    function setUp() public override {
        super.setUp();
        store(BTC_KEY, 90_000e18, START);
        Asset[] memory assets = new Asset[](2);
        (assets[0], assets[1]) = (Asset(BTC, BTC_KEY), Asset(USDC, ""));
        quotes = IPriceOracle(deployCode("QuoteAdapter.sol:QuoteAdapter", abi.encode(dataset, MAX_AGE, assets)));
        subscribe(address(quotes));
    }

    function test_price_isTheQuoteOfOneUnit() public {
        IMorphoOracle morpho =
            IMorphoOracle(deployCode("MorphoAdapter.sol:MorphoAdapter", abi.encode(quotes, BTC, USDC)));
        // 36 + 6 - 8 decimals.
        assertEq(morpho.price(), 90_000e34);
        vm.warp(START + MAX_AGE + 1);
        vm.expectRevert(abi.encodeWithSelector(IPriceOracle.OracleUntrustedData.selector, BTC, USDC));
        morpho.price();
    }
}
