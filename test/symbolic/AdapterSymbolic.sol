// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {Deployed} from "./Deployed.sol";

/// @notice Answers what it is told to, for any key.
contract StoredValue {
    uint256 private value;

    function set(uint256 value_) external {
        value = value_;
    }

    function read(bytes calldata) external view returns (bytes32, uint256, Oracle.QueryStatus) {
        return (bytes32(value), block.timestamp, Oracle.QueryStatus.OK);
    }
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

/// @notice The deployed adapters round down, by less than a unit of their own: nobody is shown more than what is stored.
/// @dev Values have 40 bits here, of which the answers keep the upper seven. Fuzz tests of the adapters take any value.
contract AdapterSymbolic {
    /// @dev Eight of 18 decimals are left.
    uint256 private constant UNIT = 1e10;
    bytes private constant KEY = "SPOTPX/ETH-USD";

    StoredValue private dataset;
    IChainlinkAdapter private feed;
    IPythAdapter private pyth;
    bytes32 private id;

    function setUp() public {
        dataset = new StoredValue();
        feed = IChainlinkAdapter(Deployed.create("ChainlinkAdapter", abi.encode(dataset, KEY, 8)));
        pyth = IPythAdapter(Deployed.create("PythAdapter", abi.encode(dataset, -8, 100)));
        id = pyth.list(KEY);
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

    function _answer(uint256 value) private returns (uint256) {
        dataset.set(value);
        (, int256 answer,,,) = feed.latestRoundData();
        // forge-lint: disable-next-line(unsafe-typecast)
        return uint256(answer);
    }

    function _price(uint256 value) private returns (uint256) {
        dataset.set(value);
        return uint64(pyth.getPriceUnsafe(id).price);
    }
}
