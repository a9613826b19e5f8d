// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @notice The form that every key of a dataset has.
/// SPOT_PRICE: "SPOTPX/<BASE>-<QUOTE>", each symbol 1 to 16 characters of A-Z and 0-9.
/// WEB_ORACLE: "WEB/" and 64 lowercase hex digits, followed by nothing or by "/" and anything.
enum KeyForm {
    SPOT_PRICE,
    WEB_ORACLE
}

/// @title KeyFormLibrary
/// @notice Tells whether a key has a form.
library KeyFormLibrary {
    uint256 private constant MAX_KEY_LENGTH = 256;
    uint256 private constant MAX_SYMBOL_LENGTH = 16;
    uint256 private constant SPEC_HASH_DIGITS = 64;

    /// @notice Returns true if `key` has this form. Empty keys and keys of more than 256 bytes never have.
    function matches(KeyForm form, bytes memory key) internal pure returns (bool) {
        if (key.length > MAX_KEY_LENGTH) return false;
        return form == KeyForm.SPOT_PRICE ? _isSpotPrice(key) : _isWebOracle(key);
    }

    function _isSpotPrice(bytes memory key) private pure returns (bool) {
        if (!_startsWith(key, "SPOTPX/")) return false;
        uint256 dash = _skipSymbol(key, 7);
        if (dash == 7 || dash - 7 > MAX_SYMBOL_LENGTH || dash == key.length || key[dash] != "-") return false;
        uint256 quote = dash + 1;
        uint256 end = _skipSymbol(key, quote);
        return end == key.length && end != quote && end - quote <= MAX_SYMBOL_LENGTH;
    }

    function _isWebOracle(bytes memory key) private pure returns (bool) {
        uint256 end = 4 + SPEC_HASH_DIGITS;
        if (key.length < end || !_startsWith(key, "WEB/")) return false;
        for (uint256 i = 4; i < end; ++i) {
            if (!_isDigit(key[i]) && (key[i] < "a" || key[i] > "f")) return false;
        }
        return key.length == end || key[end] == "/";
    }

    /// @return The first index at or after `from` without a symbol character.
    function _skipSymbol(bytes memory key, uint256 from) private pure returns (uint256) {
        while (from < key.length && (_isDigit(key[from]) || (key[from] >= "A" && key[from] <= "Z"))) ++from;
        return from;
    }

    function _isDigit(bytes1 character) private pure returns (bool) {
        return character >= "0" && character <= "9";
    }

    function _startsWith(bytes memory key, bytes memory prefix) private pure returns (bool) {
        if (key.length < prefix.length) return false;
        for (uint256 i = 0; i < prefix.length; ++i) {
            if (key[i] != prefix[i]) return false;
        }
        return true;
    }
}
