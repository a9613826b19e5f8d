// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

/// @title Signatures
/// @dev `ReferenceReports` in test/utils is the same in plain Solidity.
library Signatures {
    /// @dev Half the order of secp256k1. A signature with a higher s is a malleated copy of another one.
    uint256 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// @notice Writes the signer of `digest` to memory, or the zero address if the signature is invalid or has a high s.
    /// @param target The address in memory of the word that is written.
    /// @param vs The s of the signature, with the parity of v in the highest bit (EIP-2098).
    function recoverTo(uint256 target, bytes32 digest, bytes32 r, bytes32 vs) internal view {
        assembly ("memory-safe") {
            let input := mload(0x40)
            let s := shr(1, shl(1, vs))
            mstore(input, digest)
            mstore(add(input, 0x20), add(27, shr(255, vs)))
            mstore(add(input, 0x40), r)
            // An s of 0 is invalid, too.
            mstore(add(input, 0x60), mul(s, iszero(gt(s, MAX_S))))
            // The precompile does not write any output when it recovers no address.
            mstore(target, 0)
            pop(staticcall(gas(), 1, input, 0x80, target, 0x20))
        }
    }
}
