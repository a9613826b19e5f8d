// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {QuoteAdapter} from "./QuoteAdapter.sol";

/// @title MorphoAdapter
/// @notice Answers `price` as Morpho's markets ask for it: one pair of a `QuoteAdapter`.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract MorphoAdapter {
    /// @dev The scale that Morpho's markets expect, whatever the tokens' decimals.
    uint256 private constant ORACLE_PRICE_SCALE = 1e36;

    /// @notice The adapter that converts the amounts, and holds the subscription.
    QuoteAdapter public immutable quotes;

    /// @notice The collateral token.
    address public immutable collateral;

    /// @notice The token that is lent.
    address public immutable loan;

    constructor(QuoteAdapter quotes_, address collateral_, address loan_) {
        (quotes, collateral, loan) = (quotes_, collateral_, loan_);
    }

    /// @notice Returns what the smallest unit of the collateral token is worth in smallest units of the loan token,
    /// scaled by 1e36. Reverts with the errors of the `QuoteAdapter`.
    function price() external view returns (uint256) {
        return quotes.getQuote(ORACLE_PRICE_SCALE, collateral, loan);
    }
}
