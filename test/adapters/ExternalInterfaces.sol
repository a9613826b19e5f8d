// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

/// @notice As Chainlink publishes it.
interface AggregatorV3Interface {
    function decimals() external view returns (uint8);
    function description() external view returns (string memory);
    function version() external view returns (uint256);
    function getRoundData(uint80 id)
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}

/// @notice The reading functions of Pyth's `IPyth`, and one that writes.
interface IPyth {
    struct Price {
        int64 price;
        uint64 conf;
        int32 expo;
        uint256 publishTime;
    }

    error PriceFeedNotFound();
    error StalePrice();

    function getPriceUnsafe(bytes32 id) external view returns (Price memory price);
    function getPriceNoOlderThan(bytes32 id, uint256 age) external view returns (Price memory price);
    function getEmaPriceUnsafe(bytes32 id) external view returns (Price memory price);
    function getEmaPriceNoOlderThan(bytes32 id, uint256 age) external view returns (Price memory price);
    function updatePriceFeeds(bytes[] calldata updateData) external payable;
    function getUpdateFee(bytes[] calldata updateData) external view returns (uint256 feeAmount);
}

/// @notice ERC-7726, and Euler's extension of it.
interface IPriceOracle {
    error OracleUnsupportedPair(address base, address quote);
    error OracleUntrustedData(address base, address quote);

    function name() external view returns (string memory);
    function getQuote(uint256 baseAmount, address base, address quote) external view returns (uint256 quoteAmount);
    function getQuotes(uint256 baseAmount, address base, address quote)
        external
        view
        returns (uint256 bidAmount, uint256 askAmount);
}

/// @notice The oracle of a Morpho market.
interface IMorphoOracle {
    function price() external view returns (uint256);
}
