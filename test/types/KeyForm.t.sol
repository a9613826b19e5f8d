// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {KeyForm, KeyFormLibrary} from "../../src/types/KeyForm.sol";

/// @notice The edge cases of both key forms are in protocol/vectors/keys.json.
contract KeyFormTest is Test {
    using KeyFormLibrary for KeyForm;

    bytes private constant SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    bytes private constant DIGITS = "0123456789abcdef";

    function testFuzz_matches_everySpotPrice(bytes32 seed) public pure {
        bytes memory base = _word(SYMBOLS, 1 + uint8(seed[0]) % 16, seed);
        bytes memory quote = _word(SYMBOLS, 1 + uint8(seed[1]) % 16, ~seed);
        bytes memory key = bytes.concat("SPOTPX/", base, "-", quote);
        assertTrue(KeyForm.SPOT_PRICE.matches(key));
        assertFalse(KeyForm.WEB_ORACLE.matches(key));
    }

    function testFuzz_matches_everyWebOracleKey(bytes32 seed, bytes memory arguments) public pure {
        bytes memory key = bytes.concat("WEB/", _word(DIGITS, 64, seed));
        assertTrue(KeyForm.WEB_ORACLE.matches(key));
        key = bytes.concat(key, "/", arguments);
        assertEq(KeyForm.WEB_ORACLE.matches(key), key.length <= 256);
        assertFalse(KeyForm.SPOT_PRICE.matches(key));
    }

    function testFuzz_matches_rejectsAKeyWithAForeignByte(bytes32 seed, uint256 place, bytes1 other) public pure {
        bool isSymbol = (other >= "A" && other <= "Z") || (other >= "0" && other <= "9");
        vm.assume(!isSymbol && other != "-");
        bytes memory key = bytes.concat("SPOTPX/", _word(SYMBOLS, 16, seed), "-", _word(SYMBOLS, 16, ~seed));
        key[bound(place, 7, key.length - 1)] = other;
        assertFalse(KeyForm.SPOT_PRICE.matches(key));
    }

    function testFuzz_matches_rejectsAWebOracleKeyWithABadDigit(bytes32 seed, uint256 place, bytes1 other) public pure {
        vm.assume((other < "0" || other > "9") && (other < "a" || other > "f"));
        bytes memory key = bytes.concat("WEB/", _word(DIGITS, 64, seed));
        key[bound(place, 4, 67)] = other;
        assertFalse(KeyForm.WEB_ORACLE.matches(key));
    }

    function _word(bytes memory alphabet, uint256 length, bytes32 seed) private pure returns (bytes memory word) {
        word = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            word[i] = alphabet[uint256(keccak256(abi.encode(seed, i))) % alphabet.length];
        }
    }
}
