// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle} from "./Oracle.sol";
import {IDataset} from "./interfaces/IDataset.sol";
import {UpdateCalldata} from "./libraries/UpdateCalldata.sol";

/// @title OracleProtocol
/// @notice Reads a dataset in one line. The query price is paid out of the calling contract's balance.
///
///     oracle.querySpotPriceWithExpiry("ETH-USD", maxAge)              reads what is stored
///     oracle.updateAndQuerySpotPrice("ETH-USD", update, maxAge)       stores an update first, if it is newer
///     oracle.verifySpotPrice("ETH-USD", update, maxAge)               reads an update without storing it
///     oracle.readSpotPrice("ETH-USD", maxAge)                         reads what is stored, by subscription
///
/// Every contract that calls them needs the line `using OracleProtocol for Oracle;`, also if it inherits from a contract
/// that has it. Without it, or where an argument has another type, the compiler says: Member "querySpotPriceWithExpiry"
/// not found.
///
/// The same helpers exist for any key: `Uint` and `Bytes32` in place of `SpotPrice`. An update is the `update` that an
/// operator returns for `POST /data/request` with `"broadcast": false`. Pass it on as it is;
/// it need not come from anyone that you trust, because the dataset verifies it. Whoever brings it chooses among the
/// reports that the providers signed lately, and the helpers that verify accept every such round, even if a newer one
/// is stored: keep `maxAge` short where somebody could profit from that choice.
/// @dev Every helper that pays has a second form whose last argument is the maximum price that the caller agrees to pay: the
/// price can be raised just before the transaction, and an oracle that is not a dataset can name any price. The form
/// without it pays at most `DEFAULT_MAX_PRICE`. A contract that holds less than the price reverts with
/// `InsufficientBalance`. A library could read a limit of the consumer's own only from storage, which would cost every
/// query 2,100 gas; and a dishonest oracle would also lie about a limit.
library OracleProtocol {
    /// @notice The most that a helper without a `maxPrice` pays for one query, in wei: the query price of this
    /// project's own settings. A dataset's owner can set a higher price, up to `priceCeiling`: from then on these helpers
    /// revert with `PriceTooHigh`, for ever in a contract that cannot be changed. Pass a `maxPrice` where queries cost
    /// more, or where your contract must keep reading when they do.
    uint256 internal constant DEFAULT_MAX_PRICE = 0.001 ether;

    /// @dev The maximum age of the helpers without one.
    uint256 private constant ANY_AGE = type(uint256).max;

    /// @notice The data point cannot be used. INVALID: fix the key. NOT_AVAILABLE: request an update. DISAGREEMENT: the
    /// providers' values are too far apart now.
    error BadQueryStatus(Oracle.QueryStatus status);

    /// @notice The data point is older than the caller allows: request an update. Both in seconds.
    error DataExpired(uint256 age, uint256 maxAge);

    /// @notice The query costs more than the caller allows, and nothing was paid. Where the maximum is the Ether that came
    /// with the call, send `price`. Elsewhere, if that is intended, pass a higher maximum as the last argument of the
    /// helper: `oracle.querySpotPrice("ETH-USD", 0.01 ether)`. Both in wei.
    error PriceTooHigh(uint256 price, uint256 maxPrice);

    /// @notice The calling contract holds less than the query costs: send it Ether. Both in wei.
    error InsufficientBalance(uint256 balance, uint256 price);

    /// @notice The account has no code, or does not answer as an oracle does; a read by subscription needs a dataset:
    /// correct the address.
    error NotAnOracle(address account);

    /// @notice The dataset refused the update. A helper that stores the update reverts with this only if the stored
    /// value cannot be used either; one that verifies it always does. `reason` is the dataset's error: request another
    /// update.
    error UpdateRefused(bytes reason);

    /// @notice Returns the newest rate of a pair, scaled by 1e18.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `DEFAULT_MAX_PRICE`.
    function querySpotPrice(Oracle oracle, string memory pair) internal returns (uint256 rate) {
        rate = uint256(_query(oracle, _spotPriceQuery(pair), ANY_AGE, DEFAULT_MAX_PRICE));
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18. Pays at most `maxPrice`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `maxPrice`.
    function querySpotPrice(Oracle oracle, string memory pair, uint256 maxPrice) internal returns (uint256 rate) {
        rate = uint256(_query(oracle, _spotPriceQuery(pair), ANY_AGE, maxPrice));
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        rate = uint256(_query(oracle, _spotPriceQuery(pair), maxAge, DEFAULT_MAX_PRICE));
    }

    /// @notice Returns the newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`. Pays at most
    /// `maxPrice`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `maxPrice`.
    function querySpotPriceWithExpiry(Oracle oracle, string memory pair, uint256 maxAge, uint256 maxPrice)
        internal
        returns (uint256 rate)
    {
        rate = uint256(_query(oracle, _spotPriceQuery(pair), maxAge, maxPrice));
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `DEFAULT_MAX_PRICE`.
    function queryUint(Oracle oracle, bytes memory key) internal returns (uint256 value) {
        value = uint256(_query(oracle, _keyQuery(key), ANY_AGE, DEFAULT_MAX_PRICE));
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines. Pays at most
    /// `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `maxPrice`.
    function queryUint(Oracle oracle, bytes memory key, uint256 maxPrice) internal returns (uint256 value) {
        value = uint256(_query(oracle, _keyQuery(key), ANY_AGE, maxPrice));
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines, if it is not older
    /// than `maxAge`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function queryUintWithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (uint256 value) {
        value = uint256(_query(oracle, _keyQuery(key), maxAge, DEFAULT_MAX_PRICE));
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines, if it is not older
    /// than `maxAge`. Pays at most `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `maxPrice`.
    function queryUintWithExpiry(Oracle oracle, bytes memory key, uint256 maxAge, uint256 maxPrice)
        internal
        returns (uint256 value)
    {
        value = uint256(_query(oracle, _keyQuery(key), maxAge, maxPrice));
    }

    /// @notice Returns the newest value of a key, as it is stored.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `DEFAULT_MAX_PRICE`.
    function queryBytes32(Oracle oracle, bytes memory key) internal returns (bytes32 value) {
        value = _query(oracle, _keyQuery(key), ANY_AGE, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest value of a key, as it is stored. Pays at most `maxPrice`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, and with `PriceTooHigh` when the price is above
    /// `maxPrice`.
    function queryBytes32(Oracle oracle, bytes memory key, uint256 maxPrice) internal returns (bytes32 value) {
        value = _query(oracle, _keyQuery(key), ANY_AGE, maxPrice);
    }

    /// @notice Returns the newest value of a key, as it is stored, if it is not older than `maxAge`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function queryBytes32WithExpiry(Oracle oracle, bytes memory key, uint256 maxAge) internal returns (bytes32 value) {
        value = _query(oracle, _keyQuery(key), maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the newest value of a key, as it is stored, if it is not older than `maxAge`. Pays at most
    /// `maxPrice`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @dev Reverts with `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and
    /// with `PriceTooHigh` when the price is above `maxPrice`.
    function queryBytes32WithExpiry(Oracle oracle, bytes memory key, uint256 maxAge, uint256 maxPrice)
        internal
        returns (bytes32 value)
    {
        value = _query(oracle, _keyQuery(key), maxAge, maxPrice);
    }

    /// @notice Returns the answer of `Oracle.query` whatever its status, for contracts that can continue without a
    /// value.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @return output The value; 0 unless `status` is OK.
    /// @return updatedAt The round of the providers' last reports on the key, in seconds since 1970; 0 if there are
    /// none.
    /// @return status OK if `output` can be used, otherwise the reason why not.
    /// @dev Pays for the query whatever its status. Reverts with the oracle's error if the oracle reverts, with
    /// `NotAnOracle` when the account is none, with `InsufficientBalance` when the calling contract holds less than the
    /// price, and with `PriceTooHigh` when the price is above `DEFAULT_MAX_PRICE`.
    function tryQuery(Oracle oracle, bytes memory key)
        internal
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        return tryQuery(oracle, key, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the answer of `Oracle.query` whatever its status, for contracts that can continue without a
    /// value. Pays at most `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxPrice The most that the query may cost, inclusive, in wei.
    /// @return output The value; 0 unless `status` is OK.
    /// @return updatedAt The round of the providers' last reports on the key, in seconds since 1970; 0 if there are
    /// none.
    /// @return status OK if `output` can be used, otherwise the reason why not.
    /// @dev Pays for the query whatever its status. Reverts with the oracle's error if the oracle reverts, with
    /// `NotAnOracle` when the account is none, with `InsufficientBalance` when the calling contract holds less than the
    /// price, and with `PriceTooHigh` when the price is above `maxPrice`.
    function tryQuery(Oracle oracle, bytes memory key, uint256 maxPrice)
        internal
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        uint256 price = _price(oracle, maxPrice);
        try oracle.query{value: price}(key) returns (bytes32 output_, uint256 updatedAt_, Oracle.QueryStatus status_) {
            return (output_, updatedAt_, status_);
        } catch (bytes memory reason) {
            _requireBalance(price);
            _revertWith(reason);
        }
    }

    // ---------------------------------------------------------------- an update and a query in one call

    /// @notice Stores an update if it is newer than what is stored, and returns the newest rate of a pair, scaled by
    /// 1e18, if it is not older than `maxAge`. Pays at most `DEFAULT_MAX_PRICE`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param update As `updateAndQueryBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as the form with `maxPrice` does.
    function updateAndQuerySpotPrice(Oracle oracle, string memory pair, bytes calldata update, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        rate = updateAndQuerySpotPrice(oracle, pair, update, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Stores an update if it is newer than what is stored, and returns the newest rate of a pair, scaled by
    /// 1e18, if it is not older than `maxAge`. Pays at most `maxPrice`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param update As `updateAndQueryBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the read may cost, inclusive, in wei.
    /// @dev Reverts as `updateAndQueryBytes32` does.
    function updateAndQuerySpotPrice(
        Oracle oracle,
        string memory pair,
        bytes calldata update,
        uint256 maxAge,
        uint256 maxPrice
    ) internal returns (uint256 rate) {
        rate = updateAndQueryUint(oracle, abi.encodePacked("SPOTPX/", pair), update, maxAge, maxPrice);
    }

    /// @notice Stores an update if it is newer than what is stored, and returns the newest value of a key as a number,
    /// in the scale that the dataset defines, if it is not older than `maxAge`. Pays at most `DEFAULT_MAX_PRICE`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param update As `updateAndQueryBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as the form with `maxPrice` does.
    function updateAndQueryUint(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge)
        internal
        returns (uint256 value)
    {
        value = updateAndQueryUint(oracle, key, update, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Stores an update if it is newer than what is stored, and returns the newest value of a key as a number,
    /// in the scale that the dataset defines, if it is not older than `maxAge`. Pays at most `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param update As `updateAndQueryBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the read may cost, inclusive, in wei.
    /// @dev Reverts as `updateAndQueryBytes32` does.
    function updateAndQueryUint(
        Oracle oracle,
        bytes memory key,
        bytes calldata update,
        uint256 maxAge,
        uint256 maxPrice
    ) internal returns (uint256 value) {
        value = uint256(updateAndQueryBytes32(oracle, key, update, maxAge, maxPrice));
    }

    /// @notice Stores an update if it is newer than what is stored, and returns the newest value of a key, as it is
    /// stored, if it is not older than `maxAge`. Pays at most `DEFAULT_MAX_PRICE`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param update As `updateAndQueryBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as the form with `maxPrice` does.
    function updateAndQueryBytes32(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge)
        internal
        returns (bytes32 value)
    {
        value = updateAndQueryBytes32(oracle, key, update, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Stores an update if it is newer than what is stored, and returns the newest value of a key, as it is
    /// stored, if it is not older than `maxAge`. Pays at most `maxPrice`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param update A packed update of any kind, as `IDataset` describes it, or nothing, to read only what is stored. If
    /// another sender stored its round first, it changes nothing.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the read may cost, inclusive, in wei.
    /// @dev A refused update does not matter as long as what is stored can be used; where it cannot, reverts with
    /// `UpdateRefused`. Otherwise reverts like `queryBytes32WithExpiry`, and with `UpdateCalldata.NotAnUpdate`
    /// when `update` is none. The update gets no Ether. In the latest block, its round is still in the
    /// future and refused: estimate the gas of the transaction in the pending one.
    function updateAndQueryBytes32(
        Oracle oracle,
        bytes memory key,
        bytes calldata update,
        uint256 maxAge,
        uint256 maxPrice
    ) internal returns (bytes32 value) {
        bool isRefused = false;
        bytes memory reason;
        if (update.length != 0) {
            bool isDone;
            (isDone, reason) = address(oracle).call(UpdateCalldata.toUpdate(update));
            isRefused = !isDone;
        }
        uint256 updatedAt;
        Oracle.QueryStatus status;
        (value, updatedAt, status) = tryQuery(oracle, key, maxPrice);
        if (isRefused && (status != Oracle.QueryStatus.OK || _age(updatedAt) > maxAge)) revert UpdateRefused(reason);
        _requireUsable(updatedAt, status, maxAge);
    }

    // ---------------------------------------------------------------- an update that is verified and not stored

    /// @notice Returns the rate of a pair, scaled by 1e18, that an update proves, without storing it, if it is not
    /// older than `maxAge`. Pays at most `DEFAULT_MAX_PRICE`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param update As `verifyBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as the form with `maxPrice` does.
    function verifySpotPrice(Oracle oracle, string memory pair, bytes calldata update, uint256 maxAge)
        internal
        returns (uint256 rate)
    {
        rate = uint256(_verify(oracle, abi.encodePacked("SPOTPX/", pair), update, maxAge, DEFAULT_MAX_PRICE));
    }

    /// @notice Returns the rate of a pair, scaled by 1e18, that an update proves, without storing it, if it is not
    /// older than `maxAge`. Pays at most `maxPrice`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param update As `verifyBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the read may cost, inclusive, in wei.
    /// @dev Reverts as `verifyBytes32` does.
    function verifySpotPrice(Oracle oracle, string memory pair, bytes calldata update, uint256 maxAge, uint256 maxPrice)
        internal
        returns (uint256 rate)
    {
        rate = uint256(_verify(oracle, abi.encodePacked("SPOTPX/", pair), update, maxAge, maxPrice));
    }

    /// @notice Returns the value of a key that an update proves, as a number, in the scale that the dataset defines,
    /// without storing it, if it is not older than `maxAge`. Pays at most `DEFAULT_MAX_PRICE`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param update As `verifyBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as the form with `maxPrice` does.
    function verifyUint(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge)
        internal
        returns (uint256 value)
    {
        value = uint256(_verify(oracle, key, update, maxAge, DEFAULT_MAX_PRICE));
    }

    /// @notice Returns the value of a key that an update proves, as a number, in the scale that the dataset defines,
    /// without storing it, if it is not older than `maxAge`. Pays at most `maxPrice`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param update As `verifyBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the read may cost, inclusive, in wei.
    /// @dev Reverts as `verifyBytes32` does.
    function verifyUint(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge, uint256 maxPrice)
        internal
        returns (uint256 value)
    {
        value = uint256(_verify(oracle, key, update, maxAge, maxPrice));
    }

    /// @notice Returns the value of a key that an update proves, without storing it, if it is not older than `maxAge`.
    /// Pays at most `DEFAULT_MAX_PRICE`.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param update As `verifyBytes32` with `maxPrice` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as the form with `maxPrice` does.
    function verifyBytes32(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge)
        internal
        returns (bytes32 value)
    {
        value = _verify(oracle, key, update, maxAge, DEFAULT_MAX_PRICE);
    }

    /// @notice Returns the value of a key that an update proves, without storing it, if it is not older than `maxAge`.
    /// Pays at most `maxPrice`. What is stored is not read, even if it is newer.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param update A packed update of this key, with values or without data, as `IDataset` describes it.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @param maxPrice The most that the read may cost, inclusive, in wei: a verification costs as much as a query.
    /// @dev Reverts with `UpdateRefused` if the dataset refuses the update, with `UpdateCalldata.NotAnUpdate` or
    /// `UpdateCalldata.UpdateOfAnotherKey` if it is not an update of this key, and otherwise like
    /// `queryBytes32WithExpiry`.
    function verifyBytes32(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge, uint256 maxPrice)
        internal
        returns (bytes32 value)
    {
        value = _verify(oracle, key, update, maxAge, maxPrice);
    }

    // ---------------------------------------------------------------- a read by subscription

    /// @notice Returns the newest rate of a pair, scaled by 1e18, if it is not older than `maxAge`. Pays nothing.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as `readBytes32` does.
    function readSpotPrice(Oracle oracle, string memory pair, uint256 maxAge) internal view returns (uint256 rate) {
        rate = uint256(readBytes32(oracle, abi.encodePacked("SPOTPX/", pair), maxAge));
    }

    /// @notice Returns the newest value of a key as a number, in the scale that the dataset defines, if it is not older
    /// than `maxAge`. Pays nothing.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts as `readBytes32` does.
    function readUint(Oracle oracle, bytes memory key, uint256 maxAge) internal view returns (uint256 value) {
        value = uint256(readBytes32(oracle, key, maxAge));
    }

    /// @notice Returns the newest value of a key, as it is stored, if it is not older than `maxAge`. Pays nothing: the
    /// calling contract needs a subscription to the dataset while queries cost something.
    /// @param key The key in ASCII: "WEB/" and the hash of a request spec, for example.
    /// @param maxAge The maximum age, inclusive, in seconds.
    /// @dev Reverts with the dataset's `SubscriptionNeeded` if the calling contract is not subscribed, with
    /// `BadQueryStatus` unless the status is OK, with `DataExpired` when the data is too old, and with `NotAnOracle`
    /// when the account is no dataset.
    function readBytes32(Oracle oracle, bytes memory key, uint256 maxAge) internal view returns (bytes32 value) {
        (bool isDone, bytes memory answer) =
            address(oracle).staticcall(abi.encodeWithSelector(IDataset.read.selector, key));
        if (!isDone) _revertWithReasonOf(oracle, answer);
        if (answer.length < 0x60) revert NotAnOracle(address(oracle));
        uint256 updatedAt;
        Oracle.QueryStatus status;
        (value, updatedAt, status) = abi.decode(answer, (bytes32, uint256, Oracle.QueryStatus));
        _requireUsable(updatedAt, status, maxAge);
    }

    // ---------------------------------------------------------------- rules of every helper

    /// @dev Returns a usable value, or reverts.
    /// @param query The calldata of `Oracle.query`, which the answer replaces.
    function _query(Oracle oracle, bytes memory query, uint256 maxAge, uint256 maxPrice)
        private
        returns (bytes32 value)
    {
        bool isDone;
        (isDone, value) = _ask(oracle, query, maxAge, maxPrice);
        if (!isDone) _revertWith(_returnData());
    }

    function _verify(Oracle oracle, bytes memory key, bytes calldata update, uint256 maxAge, uint256 maxPrice)
        private
        returns (bytes32 value)
    {
        bool isDone;
        (isDone, value) = _ask(oracle, UpdateCalldata.toVerification(update, key), maxAge, maxPrice);
        if (!isDone) revert UpdateRefused(_returnData());
    }

    function _keyQuery(bytes memory key) private pure returns (bytes memory) {
        return abi.encodeWithSelector(Oracle.query.selector, key);
    }

    /// @dev Encodes the key and the call at once. No decoder needs the zeros with which the compiler would pad the key.
    function _spotPriceQuery(string memory pair) private pure returns (bytes memory) {
        return abi.encodePacked(Oracle.query.selector, uint256(0x20), 7 + bytes(pair).length, "SPOTPX/", pair);
    }

    /// @dev Asks for the price, pays it for a query or a verification, and returns the value if it can be used.
    /// `_price`, `tryQuery` and `_requireUsable` do the same, but a call of the first costs gas, and in the others the
    /// compiler copies both the call and the answer once more.
    /// @param data The call, which the answer replaces.
    /// @return isDone False if the query or the verification reverted, for the reason in `_returnData`, or its answer
    /// was too short.
    function _ask(Oracle oracle, bytes memory data, uint256 maxAge, uint256 maxPrice)
        private
        returns (bool isDone, bytes32 value)
    {
        bytes4 selector = Oracle.queryPrice.selector;
        uint256 price;
        assembly ("memory-safe") {
            mstore(0x00, selector)
            isDone := staticcall(gas(), oracle, 0x00, 0x04, 0x00, 0x20)
            // An account without code answers nothing.
            isDone := and(isDone, gt(returndatasize(), 0x1f))
            price := mload(0x00)
        }
        if (!isDone) _revertWithReasonOf(oracle, _returnData());
        if (price > maxPrice) revert PriceTooHigh(price, maxPrice);

        uint256 age;
        uint256 status;
        assembly ("memory-safe") {
            isDone := call(gas(), oracle, price, add(data, 0x20), mload(data), data, 0x60)
            isDone := and(isDone, gt(returndatasize(), 0x5f))
            value := mload(data)
            let updatedAt := mload(add(data, 0x20))
            age := mul(lt(updatedAt, timestamp()), sub(timestamp(), updatedAt))
            status := mload(add(data, 0x40))
        }
        if (!isDone) {
            _requireBalance(price);
        } else {
            if (status != uint256(Oracle.QueryStatus.OK)) revert BadQueryStatus(Oracle.QueryStatus(status));
            if (age > maxAge) revert DataExpired(age, maxAge);
        }
    }

    /// @dev Returns what a query costs, if the caller agrees to pay it. `_ask` repeats this: a call would cost 41 gas.
    function _price(Oracle oracle, uint256 maxPrice) private view returns (uint256 price) {
        bytes4 selector = Oracle.queryPrice.selector;
        bool isDone;
        assembly ("memory-safe") {
            mstore(0x00, selector)
            isDone := staticcall(gas(), oracle, 0x00, 0x04, 0x00, 0x20)
            isDone := and(isDone, gt(returndatasize(), 0x1f))
            price := mload(0x00)
        }
        if (!isDone) _revertWithReasonOf(oracle, _returnData());
        if (price > maxPrice) revert PriceTooHigh(price, maxPrice);
    }

    /// @dev Reverts for the reason why a call that every oracle answers has failed.
    function _revertWithReasonOf(Oracle oracle, bytes memory reason) private pure {
        // A reason has four bytes or more.
        if (reason.length < 4) revert NotAnOracle(address(oracle));
        _revertWith(reason);
    }

    /// @dev A call with more Ether than there is fails without a reason. Called only after a call has failed.
    function _requireBalance(uint256 price) private view {
        uint256 balance = address(this).balance;
        if (balance < price) revert InsufficientBalance(balance, price);
    }

    function _requireUsable(uint256 updatedAt, Oracle.QueryStatus status, uint256 maxAge) private view {
        if (status != Oracle.QueryStatus.OK) revert BadQueryStatus(status);
        uint256 age = _age(updatedAt);
        if (age > maxAge) revert DataExpired(age, maxAge);
    }

    /// @dev A dataset never stores a round later than its block. Data of an oracle that does so counts as fresh.
    function _age(uint256 updatedAt) private view returns (uint256) {
        unchecked {
            return updatedAt < block.timestamp ? block.timestamp - updatedAt : 0;
        }
    }

    /// @dev Returns what the last call answered, or why it reverted.
    function _returnData() private pure returns (bytes memory data) {
        assembly ("memory-safe") {
            data := mload(0x40)
            mstore(data, returndatasize())
            returndatacopy(add(data, 0x20), 0, returndatasize())
            mstore(0x40, add(data, and(add(returndatasize(), 0x3f), not(0x1f))))
        }
    }

    function _revertWith(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }
}

/// @title usingOracleProtocol
/// @notice The base of contracts that read datasets with the helpers above and have their callers pay for it.
/// @dev Since Solidity 0.7 a `using for` directive is not inherited, so a consumer repeats it:
///
///     contract Consumer is usingOracleProtocol {
///         using OracleProtocol for Oracle;
///
///         function buy(Oracle oracle) external payable paysFor(oracle) {
///             uint256 rate = oracle.querySpotPriceWithExpiry("ETH-USD", 10 minutes, msg.value);
///         }
///     }
abstract contract usingOracleProtocol {
    using OracleProtocol for Oracle;

    /// @dev Has the caller of a function pay for the one query in it. Reverts with `IDataset.WrongPayment`, which says
    /// what to send, unless that is exactly the query price: more would stay in this contract.
    modifier paysFor(Oracle oracle) {
        uint256 price = oracle.queryPrice();
        if (msg.value != price) revert IDataset.WrongPayment(msg.value, price);
        _;
    }
}
