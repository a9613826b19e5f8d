// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {AggregatorV3Interface, IMorphoOracle, IPyth} from "./ExternalInterfaces.sol";

// These consumers make the calls and checks of published ones. They were written for these tests, from the
// documentation of the published ones, so that plain forge runs them. operator/test/third-party-consumers.test.ts runs
// the published ones that npm has.

/// @notice Values collateral as Compound's markets do: decimals once, then a positive answer that is recent.
contract CollateralMarket {
    error BadPrice();
    error StalePrice();

    AggregatorV3Interface private immutable FEED;
    uint256 private immutable MAX_AGE;
    uint8 public immutable priceDecimals;

    constructor(AggregatorV3Interface feed, uint256 maxAge) {
        (FEED, MAX_AGE) = (feed, maxAge);
        priceDecimals = feed.decimals();
    }

    function valueOf(uint256 amount) external view returns (uint256) {
        (uint80 round, int256 answer,, uint256 updatedAt, uint80 answeredInRound) = FEED.latestRoundData();
        if (answer <= 0 || answeredInRound < round) revert BadPrice();
        if (block.timestamp - updatedAt > MAX_AGE) revert StalePrice();
        // forge-lint: disable-next-line(unsafe-typecast)
        return amount * uint256(answer) / 1e18;
    }
}

/// @notice Checks an answer as Euler's adapter for Chainlink's feeds does.
contract EulerChainlinkOracle {
    error InvalidAnswer();
    error TooStale(uint256 staleness, uint256 maxStaleness);

    AggregatorV3Interface private immutable FEED;
    uint256 private immutable MAX_STALENESS;

    constructor(AggregatorV3Interface feed, uint256 maxStaleness) {
        (FEED, MAX_STALENESS) = (feed, maxStaleness);
    }

    function getQuote(uint256 amount) external view returns (uint256) {
        (, int256 answer,, uint256 updatedAt,) = FEED.latestRoundData();
        if (answer <= 0) revert InvalidAnswer();
        uint256 staleness = block.timestamp - updatedAt;
        if (staleness > MAX_STALENESS) revert TooStale(staleness, MAX_STALENESS);
        // forge-lint: disable-next-line(unsafe-typecast)
        return amount * uint256(answer) / 1e18;
    }
}

/// @notice Checks a price as Euler's adapter for Pyth does: positive, recent, confident, of a usual exponent.
contract EulerPythOracle {
    error InvalidAnswer();

    IPyth private immutable PYTH;
    bytes32 private immutable ID;
    uint256 private immutable MAX_STALENESS;
    uint256 private immutable MAX_CONFIDENCE_BPS;

    constructor(IPyth pyth, bytes32 id, uint256 maxStaleness, uint256 maxConfidenceBps) {
        (PYTH, ID, MAX_STALENESS, MAX_CONFIDENCE_BPS) = (pyth, id, maxStaleness, maxConfidenceBps);
    }

    /// @return The value of an amount with 18 decimals, also with 18 decimals.
    function getQuote(uint256 amount) external view returns (uint256) {
        IPyth.Price memory answer = PYTH.getPriceUnsafe(ID);
        if (block.timestamp > answer.publishTime + MAX_STALENESS) revert InvalidAnswer();
        if (answer.price <= 0 || answer.expo > 0 || answer.expo < -20) revert InvalidAnswer();
        // forge-lint: disable-next-item(unsafe-typecast)
        uint256 price = uint64(answer.price);
        if (answer.conf > price * MAX_CONFIDENCE_BPS / 10_000) revert InvalidAnswer();
        // forge-lint: disable-next-line(unsafe-typecast)
        return amount * price / 10 ** uint32(-answer.expo);
    }
}

/// @notice Borrows against collateral as a Morpho market does.
contract MorphoMarket {
    uint256 private constant LIQUIDATION_LTV = 0.86e18;

    IMorphoOracle private immutable ORACLE;

    constructor(IMorphoOracle oracle) {
        ORACLE = oracle;
    }

    function maxBorrow(uint256 collateral) external view returns (uint256) {
        return collateral * ORACLE.price() / 1e36 * LIQUIDATION_LTV / 1e18;
    }
}
