// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {Deployed} from "./Deployed.sol";

/// @notice Answers what it is told to.
contract StoredValues {
    mapping(bytes32 keyHash => uint256) private values;

    function set(bytes calldata key, uint256 value) external {
        values[keccak256(key)] = value;
    }

    function read(bytes calldata key) external view returns (bytes32, uint256, Oracle.QueryStatus) {
        return (bytes32(values[keccak256(key)]), block.timestamp, Oracle.QueryStatus.OK);
    }
}

/// @notice A token with 18 decimals.
contract Token {
    uint8 public constant decimals = 18;
}

interface IChainlinkAdapter {
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80);
}

interface IPythAdapter {
    struct Price {
        int64 price;
        uint64 conf;
        int32 expo;
        uint256 publishTime;
    }

    function list(bytes calldata key) external returns (bytes32 id);
    function getPriceUnsafe(bytes32 id) external view returns (Price memory price);
}

interface IQuoteAdapter {
    struct Asset {
        address asset;
        bytes key;
    }

    function getQuote(uint256 amount, address base, address quote) external view returns (uint256);
}

/// @notice The deployed adapters round down, by less than a unit of their own: nobody is shown more than what is stored,
/// or given more than what an amount is worth.
/// @dev Values have 40 bits here, of which the answers keep the upper seven. Amounts to convert have 16, at two prices
/// whose quotient is no integer. Fuzz tests of the adapters take any value.
contract AdapterSymbolic {
    /// @dev Eight of 18 decimals are left.
    uint256 private constant UNIT = 1e10;
    bytes private constant KEY = "SPOTPX/ETH-USD";
    bytes private constant OTHER_KEY = "SPOTPX/BTC-USD";
    uint256 private constant PRICE = 3;
    uint256 private constant OTHER_PRICE = 7;

    StoredValues private dataset;
    IChainlinkAdapter private feed;
    IPythAdapter private pyth;
    bytes32 private id;
    IQuoteAdapter private quotes;
    address private asset;
    address private other;

    function setUp() public {
        dataset = new StoredValues();
        feed = IChainlinkAdapter(Deployed.create("ChainlinkAdapter", abi.encode(dataset, KEY, 8)));
        pyth = IPythAdapter(Deployed.create("PythAdapter", abi.encode(dataset, -8, 100)));
        id = pyth.list(KEY);
        (asset, other) = (address(new Token()), address(new Token()));
        IQuoteAdapter.Asset[] memory assets = new IQuoteAdapter.Asset[](2);
        (assets[0], assets[1]) = (IQuoteAdapter.Asset(asset, KEY), IQuoteAdapter.Asset(other, OTHER_KEY));
        dataset.set(KEY, PRICE);
        dataset.set(OTHER_KEY, OTHER_PRICE);
        quotes = IQuoteAdapter(Deployed.create("QuoteAdapter", abi.encode(dataset, 1 hours, assets)));
    }

    function check_latestRoundData_roundsDown(uint40 value) external {
        uint256 answer = _answer(value) * UNIT;
        assert(answer <= value && value - answer < UNIT);
    }

    function refute_latestRoundData_isExact(uint40 value) external {
        assert(_answer(value) * UNIT == value);
    }

    function check_getPrice_roundsDown(uint40 value) external {
        uint256 price = _price(value) * UNIT;
        assert(price <= value && value - price < UNIT);
    }

    function refute_getPrice_isExact(uint40 value) external {
        assert(_price(value) * UNIT == value);
    }

    function check_getQuote_roundsDown(uint16 amount) external view {
        uint256 quote = quotes.getQuote(amount, asset, other) * OTHER_PRICE;
        uint256 worth = uint256(amount) * PRICE;
        assert(quote <= worth && worth - quote < OTHER_PRICE);
    }

    function refute_getQuote_isExact(uint16 amount) external view {
        assert(quotes.getQuote(amount, asset, other) * OTHER_PRICE == uint256(amount) * PRICE);
    }

    function _answer(uint256 value) private returns (uint256) {
        dataset.set(KEY, value);
        (, int256 answer,,,) = feed.latestRoundData();
        // forge-lint: disable-next-line(unsafe-typecast)
        return uint256(answer);
    }

    function _price(uint256 value) private returns (uint256) {
        dataset.set(KEY, value);
        return uint64(pyth.getPriceUnsafe(id).price);
    }
}
