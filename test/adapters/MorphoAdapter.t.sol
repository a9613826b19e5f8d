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

    function test_price_isRightForUnusualDecimals() public {
        uint8[4] memory decimals = [0, 6, 27, 36];
        for (uint256 i = 0; i < decimals.length; ++i) {
            for (uint256 j = 0; j < decimals.length; ++j) {
                (uint256 from, uint256 to) = (decimals[i], decimals[j]);
                // The price has to fit in a word.
                if (to > from + 30) continue;
                (address a, address b) = (address(new Token(decimals[i])), address(new Token(decimals[j])));
                Asset[] memory assets = new Asset[](2);
                (assets[0], assets[1]) = (Asset(a, BTC_KEY), Asset(b, ""));
                address any = deployCode("QuoteAdapter.sol:QuoteAdapter", abi.encode(dataset, MAX_AGE, assets));
                subscribe(any);
                IMorphoOracle morpho =
                    IMorphoOracle(deployCode("MorphoAdapter.sol:MorphoAdapter", abi.encode(any, a, b)));
                assertEq(morpho.price(), 90_000 * 10 ** (36 + to - from));
            }
        }
    }
}
