// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";

/// @title PythAdapter
/// @notice Answers the reading functions of Pyth's `IPyth` with the keys of a dataset of prices. The id of a price is
/// keccak256 of its key.
/// @dev Errors are Pyth's own, which consumers know. An exponentially weighted average, and everything else that has no
/// counterpart in a dataset, reverts with `NotSupported`.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract PythAdapter {
    /// @notice A price as Pyth gives it: (`price` +/- `conf`) * 10 ^ `expo`, published at `publishTime`, in seconds
    /// since 1970.
    struct Price {
        int64 price;
        uint64 conf;
        int32 expo;
        uint256 publishTime;
    }

    /// @notice No listed key has this id (call `list`), or the key's status is not OK, or its price with this exponent
    /// is 0.
    error PriceFeedNotFound();

    /// @notice The price is older than the age asked for: update the dataset first.
    error StalePrice();

    /// @notice The function has no counterpart in a dataset.
    error NotSupported(bytes4 selector);

    /// @notice The value does not fit 63 bits with this exponent. Deploy an adapter with a larger one.
    error PriceTooLarge(uint256 price, uint256 max);

    /// @notice The exponent is not -18 to 0.
    error WrongExponent(int32 expo);

    /// @notice The confidence is above 100 %.
    error WrongConfidence(uint256 bps, uint256 max);

    /// @notice A key is listed, and can be read by its id.
    event KeyListed(bytes32 indexed id, bytes key);

    /// @dev The decimals of a spot price.
    uint256 private constant VALUE_DECIMALS = 18;
    uint256 private constant BPS = 10_000;

    /// @notice The dataset that is read.
    IDataset public immutable dataset;

    /// @notice The exponent of every price.
    int32 public immutable expo;

    /// @notice The confidence of every price, in basis points of it.
    uint256 public immutable confidenceBps;

    uint256 private immutable _unit;

    mapping(bytes32 id => bytes) private _keys;

    /// @param dataset_ A dataset whose values have 18 decimals.
    /// @param expo_ The exponent of every price, -18 to 0: -8 suits prices in US dollars. Further digits are cut off.
    /// @param confidenceBps_ The half width of the interval that every price claims, in basis points of the price: use
    /// the dataset's tolerance, within which all but at most f of the providers' values lie (f as in
    /// `Quorum.faultBound`).
    constructor(IDataset dataset_, int32 expo_, uint256 confidenceBps_) {
        if (expo_ > 0 || expo_ < -18) revert WrongExponent(expo_);
        if (confidenceBps_ > BPS) revert WrongConfidence(confidenceBps_, BPS);
        (dataset, expo, confidenceBps) = (dataset_, expo_, confidenceBps_);
        // forge-lint: disable-next-line(unsafe-typecast)
        _unit = 10 ** (VALUE_DECIMALS - uint32(-expo_));
    }

    /// @dev Reverts with `NotSupported` and the selector of the function that was called, also if Ether came with it, as
    /// with an update of Pyth's prices.
    fallback() external payable {
        revert NotSupported(msg.sig);
    }

    /// @notice Lists a key, so that it can be read by its id. Anyone may list any key: its id is its hash.
    /// @param key The key in ASCII.
    /// @return id keccak256 of the key.
    function list(bytes calldata key) external returns (bytes32 id) {
        id = keccak256(key);
        _keys[id] = key;
        emit KeyListed(id, key);
    }

    /// @notice Returns the stored price, however old. Reverts with `PriceFeedNotFound` or `PriceTooLarge`, and with the
    /// dataset's `SubscriptionNeeded` while queries are charged and this contract is not subscribed.
    function getPriceUnsafe(bytes32 id) external view returns (Price memory) {
        return _price(id);
    }

    /// @notice Returns the stored price, if it is at most `age` seconds old. Reverts with `StalePrice` if it is older,
    /// and otherwise as `getPriceUnsafe` does.
    function getPriceNoOlderThan(bytes32 id, uint256 age) external view returns (Price memory price) {
        price = _price(id);
        // A dataset never stores a round later than its block.
        if (block.timestamp - price.publishTime > age) revert StalePrice();
    }

    function _price(bytes32 id) private view returns (Price memory) {
        bytes memory key = _keys[id];
        if (key.length == 0) revert PriceFeedNotFound();
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = dataset.read(key);
        uint256 price = uint256(output) / _unit;
        if (status != Oracle.QueryStatus.OK || price == 0) revert PriceFeedNotFound();
        uint256 max = uint64(type(int64).max);
        if (price > max) revert PriceTooLarge(price, max);
        // forge-lint: disable-next-line(unsafe-typecast)
        return Price(int64(uint64(price)), uint64(price * confidenceBps / BPS), expo, updatedAt);
    }
}
