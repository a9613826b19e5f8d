// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {GovernanceAndIncome} from "./GovernanceAndIncome.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";

/// @title Subscriptions
/// @notice Sells periods in which an address reads without a payment per query, for contracts that read in `view`
/// functions.
/// @dev Payments add to the balance, as those of queries do, and are shared in the same way.
abstract contract Subscriptions is GovernanceAndIncome {
    uint256 private constant PERIOD = 30 days;

    /// @dev Bounds what a low price can give away, and keeps every time far below an overflow.
    uint256 private constant MAX_SUBSCRIPTION = 120 * PERIOD;

    uint256 private immutable _priceCeiling;

    uint256 private _price;

    /// @inheritdoc IDataset
    mapping(address reader => uint256 until) public subscribedUntil;

    constructor(DatasetSettings memory settings) GovernanceAndIncome(settings) {
        _priceCeiling = settings.subscriptionPriceCeiling;
        _setSubscriptionPrice(settings.subscriptionPrice);
    }

    /// @inheritdoc IDataset
    /// @dev One function for all three, with a selector greater than a query's: the dispatcher compares selectors in
    /// ascending order, and every function before `query` makes each query cost 22 gas more.
    function costOfSubscription() external view returns (uint256 price, uint256 period, uint256 ceiling) {
        return (_price, PERIOD, _priceCeiling);
    }

    /// @inheritdoc IDataset
    function setSubscriptionPrice(uint256 price) external onlyOwner {
        _setSubscriptionPrice(price);
    }

    /// @inheritdoc IDataset
    function subscribe(address reader, uint256 periods) external payable returns (uint256 until) {
        // Without this, a subscription of no time would still last until the end of the block.
        if (periods == 0) revert NoPeriods();
        until = subscribedUntil[reader];
        if (until < block.timestamp) until = block.timestamp;
        until += periods * PERIOD;
        uint256 latest = block.timestamp + MAX_SUBSCRIPTION;
        if (until > latest) revert SubscriptionTooLong(until, latest);
        uint256 cost = periods * _price;
        if (msg.value != cost) revert WrongPayment(msg.value, cost);

        subscribedUntil[reader] = until;
        emit Subscribed(reader, msg.sender, until);
    }

    function _requireFreeReading() internal view {
        if (!_mayReadFree()) revert SubscriptionNeeded(msg.sender, _price, PERIOD);
    }

    /// @dev Returns true if queries cost nothing, the caller's subscription runs, or the call has no origin. On most
    /// chains every transaction has one, and only an `eth_call`, which changes nothing, can have none, so that no
    /// contract can act on its answer. By the published sources of Polygon PoS, its bridge messages have none either:
    /// there, a contract that gets one reads for nothing.
    function _mayReadFree() internal view returns (bool) {
        return queryPrice() == 0 || subscribedUntil[msg.sender] >= block.timestamp || tx.origin == address(0);
    }

    function _setSubscriptionPrice(uint256 price) private {
        if (price > _priceCeiling) revert PriceAboveCeiling(price, _priceCeiling);
        _price = price;
        emit SubscriptionPriceChanged(price);
    }
}
