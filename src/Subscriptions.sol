// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetGovernance} from "./DatasetGovernance.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";

/// @title Subscriptions
/// @notice Sells periods in which an address reads without a payment per query, for contracts that read in `view`.
/// @dev What is paid arrives in the balance, as what queries pay does, and is shared in the same way.
abstract contract Subscriptions is DatasetGovernance {
    /// @inheritdoc IDataset
    uint256 public constant SUBSCRIPTION_PERIOD = 30 days;

    /// @dev Bounds what a low price can give away, and keeps every time far below an overflow.
    uint256 private constant MAX_SUBSCRIPTION = 120 * SUBSCRIPTION_PERIOD;

    /// @inheritdoc IDataset
    uint256 public immutable subscriptionPriceCeiling;

    /// @inheritdoc IDataset
    uint256 public subscriptionPrice;

    /// @inheritdoc IDataset
    mapping(address reader => uint256 until) public subscribedUntil;

    constructor(DatasetSettings memory settings) DatasetGovernance(settings) {
        subscriptionPriceCeiling = settings.subscriptionPriceCeiling;
        _setSubscriptionPrice(settings.subscriptionPrice);
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
        until += periods * SUBSCRIPTION_PERIOD;
        uint256 latest = block.timestamp + MAX_SUBSCRIPTION;
        if (until > latest) revert SubscriptionTooLong(until, latest);
        uint256 price = subscriptionPrice * periods;
        if (msg.value != price) revert WrongPayment(msg.value, price);

        subscribedUntil[reader] = until;
        emit Subscribed(reader, msg.sender, until);
    }

    /// @dev Reverts unless the caller may read without paying. No transaction has the origin zero: only a call that
    /// changes nothing and names no sender has, and what that reads can reach no contract.
    function _requireFreeReading() internal view {
        if (!_mayReadFree()) revert SubscriptionNeeded(msg.sender, subscriptionPrice, SUBSCRIPTION_PERIOD);
    }

    /// @dev True if queries cost nothing, the caller's subscription runs, or the call belongs to no transaction.
    function _mayReadFree() internal view returns (bool) {
        return queryPrice == 0 || subscribedUntil[msg.sender] >= block.timestamp || tx.origin == address(0);
    }

    function _setSubscriptionPrice(uint256 price) private {
        if (price > subscriptionPriceCeiling) revert PriceAboveCeiling(price, subscriptionPriceCeiling);
        subscriptionPrice = price;
        emit SubscriptionPriceChanged(price);
    }
}
