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

    // Sets of ASCII characters: bit n is set if character n belongs to it.
    uint256 private constant DIGITS = ((1 << 10) - 1) << 0x30;
    uint256 private constant SYMBOL_CHARACTERS = DIGITS | (((1 << 26) - 1) << 0x41);
    uint256 private constant HEX_DIGITS = DIGITS | (((1 << 6) - 1) << 0x61);

    /// @notice Returns true if `key` has this form. Empty keys and keys of more than 256 bytes never do.
    function matches(KeyForm form, bytes memory key) internal pure returns (bool) {
        if (key.length > MAX_KEY_LENGTH) return false;
        return form == KeyForm.SPOT_PRICE ? _isSpotPrice(key) : _isWebOracle(key);
    }

    function _isSpotPrice(bytes memory key) private pure returns (bool) {
        uint256 base = 7;
        if (!_startsWith(key, "SPOTPX/", base)) return false;
        uint256 dash = _skip(SYMBOL_CHARACTERS, key, base);
        if (dash >= key.length || key[dash] != "-") return false;
        uint256 quote = dash + 1;
        return _isSymbolLength(dash - base) && _isSymbolLength(key.length - quote)
            && _skip(SYMBOL_CHARACTERS, key, quote) == key.length;
    }

    function _isWebOracle(bytes memory key) private pure returns (bool) {
        uint256 digits = 4;
        uint256 end = digits + SPEC_HASH_DIGITS;
        if (!_startsWith(key, "WEB/", digits) || _skip(HEX_DIGITS, key, digits) < end) return false;
        return key.length == end || key[end] == "/";
    }

    function _isSymbolLength(uint256 length) private pure returns (bool) {
        return length != 0 && length <= MAX_SYMBOL_LENGTH;
    }

    /// @param length The number of bytes of the prefix.
    function _startsWith(bytes memory key, bytes32 prefix, uint256 length) private pure returns (bool) {
        if (key.length < length) return false;
        for (uint256 i = 0; i < length; ++i) {
            if (key[i] != prefix[i]) return false;
        }
        return true;
    }

    /// @return The first index at or after `from` whose character is not in the set, or the length of the key.
    function _skip(uint256 set, bytes memory key, uint256 from) private pure returns (uint256) {
        unchecked {
            while (from < key.length && (set >> uint8(key[from])) & 1 != 0) ++from;
        }
        return from;
    }
}
