// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Signatures} from "../../src/libraries/Signatures.sol";

/// @dev Returns the signer that `Signatures` writes to memory: to a word that has all bits set before, so that one which
/// it does not write is no address.
function recoverSigner(bytes32 digest, bytes32 r, bytes32 vs) view returns (address) {
    uint256[1] memory word = [type(uint256).max];
    uint256 target;
    assembly ("memory-safe") {
        target := word
    }
    Signatures.recoverTo(target, digest, r, vs);
    return abi.decode(abi.encode(word), (address));
}
