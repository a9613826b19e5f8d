// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {AdapterFixture, Asset, Token} from "./AdapterFixture.sol";
import {IPriceOracle} from "./ExternalInterfaces.sol";

contract QuoteAdapterTest is AdapterFixture {
    string private constant ADAPTER = "QuoteAdapter.sol:QuoteAdapter";
    bytes private constant BTC_KEY = "SPOTPX/BTC-USD";
    uint256 private constant MAX_AGE = 1 hours;

    address private immutable ETH = address(new Token(18));
    address private immutable BTC = address(new Token(8));
    address private immutable USDC = address(new Token(6));
    address private constant USD = address(840);

    IPriceOracle private oracle;

    function setUp() public override {
        super.setUp();
        store(BTC_KEY, 90_000e18, START);
        oracle = _adapter(_assets(ETH, BTC));
        subscribe(address(oracle));
    }

    function test_getQuote_convertsOverTheCommonQuote() public view {
        assertEq(oracle.getQuote(2e18, ETH, USD), 6000e18);
        assertEq(oracle.getQuote(2e18, ETH, USDC), 6000e6);
        assertEq(oracle.getQuote(3e8, BTC, ETH), 90e18);
        assertEq(oracle.getQuote(90e18, ETH, BTC), 3e8);
        assertEq(oracle.getQuote(3000e18, USD, ETH), 1e18);
        assertEq(oracle.getQuote(1e18, ETH, ETH), 1e18);
        assertEq(oracle.getQuote(0, ETH, BTC), 0);
        assertEq(oracle.name(), "QuoteAdapter");
        (uint256 bid, uint256 ask) = oracle.getQuotes(3e8, BTC, ETH);
        assertEq(bid, 90e18);
        assertEq(ask, 90e18);
    }

    /// @dev The result is the exact quotient, rounded down: out * den <= in * num < (out + 1) * den.
    function testFuzz_getQuote_isExactForAnyDecimals(
        uint256 amount,
        uint256 price,
        uint256 other,
        uint256 from,
        uint256 to
    ) public {
        (price, other) = (bound(price, 1, 1e30), bound(other, 1, 1e30));
        (from, to) = (bound(from, 0, 24), bound(to, 0, 24));
        amount = bound(amount, 0, 1e20);
        // forge-lint: disable-next-line(unsafe-typecast)
        (address a, address b) = (address(new Token(uint8(from))), address(new Token(uint8(to))));
        IPriceOracle any = _adapter(_assets(a, b));
        subscribe(address(any));
        store(price, START + 60);
        store(BTC_KEY, other, START + 60);
        uint256 out = any.getQuote(amount, a, b);
        (uint256 numerator, uint256 denominator) = (amount * price, other);
        if (to > from) numerator *= 10 ** (to - from);
        else denominator *= 10 ** (from - to);
        assertEq(out, numerator / denominator);
    }

    function test_getQuote_doesNotOverflowOnTheWay() public {
        store(type(uint208).max, START + 60);
        store(BTC_KEY, type(uint208).max, START + 60);
        assertEq(oracle.getQuote(1e60, ETH, BTC), 1e50);
        assertEq(oracle.getQuote(1e60, BTC, ETH), 1e70);
    }

    function testFuzz_getQuote_RevertWhen_aPriceIsTooOld(uint256 age) public {
        age = bound(age, 0, 2 * MAX_AGE);
        vm.warp(START + age);
        if (age > MAX_AGE) _untrusted(ETH, USD);
        else assertEq(oracle.getQuote(1e18, ETH, USD), 3000e18);
        if (age == 0) return;
        store(START + age);
        if (age > MAX_AGE) _untrusted(ETH, BTC);
        assertEq(oracle.getQuote(1e18, ETH, USD), 3000e18);
    }

    function test_getQuote_RevertWhen_theStatusIsNotOK() public {
        storeNoData(START + 60);
        _untrusted(ETH, USD);
        _untrusted(USD, ETH);
        storeDisagreement(START + 61);
        _untrusted(ETH, BTC);
        _untrusted(BTC, ETH);
        Asset[] memory assets = new Asset[](2);
        assets[0] = Asset(ETH, "not a key");
        assets[1] = Asset(USD, "");
        IPriceOracle invalid = _adapter(assets);
        subscribe(address(invalid));
        vm.expectRevert(abi.encodeWithSelector(IPriceOracle.OracleUntrustedData.selector, ETH, USD));
        invalid.getQuote(1, ETH, USD);
    }

    function test_getQuote_RevertWhen_aPriceIsZero() public {
        store(0, START + 60);
        _untrusted(ETH, USD);
        _untrusted(USD, ETH);
    }

    function testFuzz_getQuote_RevertWhen_anAssetIsNotListed(address asset) public {
        vm.assume(asset != ETH && asset != BTC && asset != USDC && asset != USD);
        vm.expectRevert(abi.encodeWithSelector(IPriceOracle.OracleUnsupportedPair.selector, asset, USD));
        oracle.getQuote(1, asset, USD);
        vm.expectRevert(abi.encodeWithSelector(IPriceOracle.OracleUnsupportedPair.selector, ETH, asset));
        oracle.getQuotes(1, ETH, asset);
    }

    /// @dev 8 is the number of the Albanian lek, and the address of the pairing precompile.
    function test_constructor_listsCurrenciesAtThePrecompiles() public {
        Asset[] memory assets = new Asset[](2);
        assets[0] = Asset(address(8), KEY);
        assets[1] = Asset(USD, "");
        uint256 gas = gasleft();
        IPriceOracle lek = _adapter(assets);
        assertLt(gas - gasleft(), 5_000_000);
        subscribe(address(lek));
        assertEq(lek.getQuote(2e18, address(8), USD), 6000e18);
    }

    function test_constructor_knowsCurrenciesUpTo999() public {
        bytes memory token = address(new Token(6)).code;
        vm.etch(address(999), token);
        vm.etch(address(1000), token);
        assertEq(_quoteIn(address(999)), 3000e18);
        assertEq(_quoteIn(address(1000)), 3000e6);
    }

    function testFuzz_constructor_countsATokenWithAShortAnswerAsHaving18Decimals(uint256 length) public {
        address token = address(new Token(6));
        vm.mockCall(token, abi.encodeWithSignature("decimals()"), new bytes(bound(length, 0, 31)));
        assertEq(_quoteIn(token), 3000e18);
    }

    function testFuzz_getQuote_isExactUpTo36Decimals(uint256 amount, uint256 from, uint256 to) public {
        (from, to) = (bound(from, 0, 36), bound(to, 0, 36));
        // forge-lint: disable-next-line(unsafe-typecast)
        (address a, address b) = (address(new Token(uint8(from))), address(new Token(uint8(to))));
        IPriceOracle any = _adapter(_assets(a, b));
        subscribe(address(any));
        amount = bound(amount, 0, 1e18);
        uint256 numerator = to > from ? 3000e18 * 10 ** (to - from) : 3000e18;
        uint256 denominator = to > from ? 90_000e18 : 90_000e18 * 10 ** (from - to);
        assertEq(any.getQuote(amount, a, b), Math.mulDiv(amount, numerator, denominator));
    }

    function testFuzz_constructor_RevertWhen_aTokenHasTooManyDecimals(uint256 decimals) public {
        decimals = bound(decimals, 37, type(uint256).max);
        address token = address(new Token(6));
        vm.mockCall(token, abi.encodeWithSignature("decimals()"), abi.encode(decimals));
        bytes memory refusal =
            abi.encodeWithSignature("TooManyDecimals(address,uint256,uint256)", token, decimals, uint256(36));
        assertRefused(vm.getCode(ADAPTER), abi.encode(dataset, MAX_AGE, _assets(ETH, token)), refusal);
    }

    function test_constructor_RevertWhen_anAssetIsListedTwice() public {
        bytes memory arguments = abi.encode(dataset, MAX_AGE, _assets(ETH, ETH));
        assertRefused(vm.getCode(ADAPTER), arguments, abi.encodeWithSignature("AssetListedTwice(address)", ETH));
    }

    /// @dev Returns what one ETH is worth in an asset that is a common quote.
    function _quoteIn(address asset) private returns (uint256) {
        Asset[] memory assets = new Asset[](2);
        (assets[0], assets[1]) = (Asset(ETH, KEY), Asset(asset, ""));
        IPriceOracle any = _adapter(assets);
        subscribe(address(any));
        return any.getQuote(1e18, ETH, asset);
    }

    function store(uint256 round) private {
        store(3000e18, round);
    }

    function _assets(address eth, address btc) private view returns (Asset[] memory assets) {
        assets = new Asset[](4);
        assets[0] = Asset(eth, KEY);
        assets[1] = Asset(btc, BTC_KEY);
        assets[2] = Asset(USDC, "");
        assets[3] = Asset(USD, "");
    }

    function _adapter(Asset[] memory assets) private returns (IPriceOracle) {
        return IPriceOracle(deployCode(ADAPTER, abi.encode(dataset, MAX_AGE, assets)));
    }

    function _untrusted(address base, address quote) private {
        vm.expectRevert(abi.encodeWithSelector(IPriceOracle.OracleUntrustedData.selector, base, quote));
        oracle.getQuote(1e18, base, quote);
    }
}
