// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

/// @title BitCount
/// @notice Counts the bits of bitmaps.
library BitCount {
    /// @notice Returns the number of bits that are set, modulo 256. A full bitmap gives 0, so a caller must bound the
    /// bitmap or refuse 0.
    /// @dev Adds up neighbouring bits, then pairs, then groups of four, side by side in one word. The product's highest
    /// byte is the sum of all bytes. This costs the same for every bitmap, unlike a loop over its bits.
    function count(uint256 bitmap) internal pure returns (uint256) {
        unchecked {
            uint256 pairs = bitmap - ((bitmap >> 1) & (type(uint256).max / 3));
            uint256 fours = (pairs & (type(uint256).max / 5)) + ((pairs >> 2) & (type(uint256).max / 5));
            uint256 eights = (fours + (fours >> 4)) & (type(uint256).max / 17);
            return (eights * (type(uint256).max / 255)) >> 248;
        }
    }
}
