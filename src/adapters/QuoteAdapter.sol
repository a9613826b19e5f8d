// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";

/// @title QuoteAdapter
/// @notice Converts amounts of one asset to another by ERC-7726, and in Euler's shape of it, with the spot prices of a
/// dataset. All prices have one common quote, such as US dollars, through which any two assets are converted.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract QuoteAdapter {
    /// @notice An asset and where its price is.
    /// @param asset The token or, for a currency, its ISO 4217 number as an address (ERC-7726), such as 840 for US
    /// dollars.
    /// @param key The key of its price in the common quote; empty for the common quote itself, whose price is 1.
    struct Asset {
        address asset;
        bytes key;
    }

    /// @notice One of the assets is not listed.
    error OracleUnsupportedPair(address base, address quote);

    /// @notice A price is older than `maxAge`, is 0, or its status is not OK: update the dataset first.
    error OracleUntrustedData(address base, address quote);

    /// @notice An asset is listed twice.
    error AssetListedTwice(address asset);

    /// @notice A token says that it has more decimals than `max`: amounts of it would not fit in a word.
    error TooManyDecimals(address asset, uint256 decimals, uint256 max);

    struct Listing {
        uint8 decimals;
        bool isListed;
        bytes key;
    }

    uint8 private constant DEFAULT_DECIMALS = 18;

    /// @dev With these, no price below 10^23 whole units of the common quote overflows on the way.
    uint256 private constant MAX_DECIMALS = 36;

    /// @dev ISO 4217 numbers have three digits.
    uint160 private constant MAX_CURRENCY = 999;

    /// @notice The name, as Euler's oracles have one.
    string public constant name = "QuoteAdapter";

    /// @notice The dataset that is read.
    IDataset public immutable dataset;

    /// @notice The maximum age of a price, inclusive, in seconds.
    uint256 public immutable maxAge;

    mapping(address asset => Listing) private _listings;

    /// @param dataset_ A dataset of spot prices.
    /// @param maxAge_ The maximum age of a price, inclusive, in seconds.
    /// @param assets The assets that can be converted, each one once, with at most 36 decimals. A token without
    /// `decimals`, and a currency, count as having 18.
    constructor(IDataset dataset_, uint256 maxAge_, Asset[] memory assets) {
        (dataset, maxAge) = (dataset_, maxAge_);
        for (uint256 i = 0; i < assets.length; ++i) {
            address asset = assets[i].asset;
            if (_listings[asset].isListed) revert AssetListedTwice(asset);
            _listings[asset] = Listing(_decimalsOf(asset), true, assets[i].key);
        }
    }

    /// @notice Returns how much of `quote` an amount of `base` is worth, both in the smallest units of the asset,
    /// rounded down. Reverts with `OracleUnsupportedPair` or `OracleUntrustedData`, and with the dataset's
    /// `SubscriptionNeeded` while queries are charged and this contract is not subscribed.
    function getQuote(uint256 baseAmount, address base, address quote) public view returns (uint256 quoteAmount) {
        Listing storage from = _listings[base];
        Listing storage to = _listings[quote];
        if (!from.isListed || !to.isListed) revert OracleUnsupportedPair(base, quote);
        uint256 numerator = _price(from, base, quote);
        uint256 denominator = _price(to, base, quote);
        // Only the difference of the decimals counts. A greater price than tokens have reverts where it overflows.
        (uint256 decimals, uint256 toDecimals) = (from.decimals, to.decimals);
        if (toDecimals > decimals) numerator *= 10 ** (toDecimals - decimals);
        else denominator *= 10 ** (decimals - toDecimals);
        return Math.mulDiv(baseAmount, numerator, denominator);
    }

    /// @notice Returns the quote of `getQuote` as both bid and ask, as Euler's vaults expect.
    function getQuotes(uint256 baseAmount, address base, address quote)
        external
        view
        returns (uint256 bidAmount, uint256 askAmount)
    {
        bidAmount = getQuote(baseAmount, base, quote);
        askAmount = bidAmount;
    }

    /// @dev Returns the price of one whole unit of an asset in the common quote, scaled by 1e18.
    function _price(Listing storage listing, address base, address quote) private view returns (uint256 price) {
        bytes memory key = listing.key;
        if (key.length == 0) return 1e18;
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = dataset.read(key);
        price = uint256(output);
        bool isTrusted = status == Oracle.QueryStatus.OK && price != 0 && block.timestamp - updatedAt <= maxAge;
        if (!isTrusted) revert OracleUntrustedData(base, quote);
    }

    function _decimalsOf(address asset) private view returns (uint8) {
        // Some currencies have the address of a precompile, which would fail and consume nearly all gas.
        if (uint160(asset) <= MAX_CURRENCY) return DEFAULT_DECIMALS;
        (bool isDone, bytes memory answer) = asset.staticcall(abi.encodeCall(IERC20Metadata.decimals, ()));
        if (!isDone || answer.length < 32) return DEFAULT_DECIMALS;
        uint256 decimals = abi.decode(answer, (uint256));
        if (decimals > MAX_DECIMALS) revert TooManyDecimals(asset, decimals, MAX_DECIMALS);
        // forge-lint: disable-next-line(unsafe-typecast)
        return uint8(decimals);
    }
}
