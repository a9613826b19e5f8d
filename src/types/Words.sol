// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

/// @notice Consecutive words in memory. Their content is undefined until they are written.
type Words is uint256;

using WordsLibrary for Words global;

/// @title WordsLibrary
/// @notice Provides an array without the zeroing and the bounds checks of plain Solidity.
library WordsLibrary {
    function create(uint256 count) internal pure returns (Words words) {
        assembly ("memory-safe") {
            words := mload(0x40)
            mstore(0x40, add(words, shl(5, count)))
        }
    }

    /// @dev Assumes `index` < the number of words; the caller has checked it.
    function set(Words words, uint256 index, bytes32 word) internal pure {
        assembly ("memory-safe") {
            mstore(add(words, shl(5, index)), word)
        }
    }

    /// @dev Assumes `index` < the number of words; the caller has checked it.
    function get(Words words, uint256 index) internal pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(words, shl(5, index)))
        }
    }
}
