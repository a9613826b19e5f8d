// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {recoverSigner} from "../utils/RecoverSigner.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";

contract SignaturesTest is Test {
    uint256 private constant HALF_ORDER = SECP256K1_ORDER / 2;

    /// Other memory stays as it was.
    function testFuzz_recoverTo_writesTheSigner(uint256 key, bytes32 digest, bytes memory before) public view {
        bytes32 hash = keccak256(before);
        key = boundPrivateKey(key);
        (bytes32 r, bytes32 vs) = vm.signCompact(key, digest);
        assertEq(recoverSigner(digest, r, vs), vm.addr(key));
        assertEq(keccak256(before), hash);
    }

    function testFuzz_recoverTo_matchesPlainSolidity(bytes32 digest, bytes32 r, bytes32 vs) public view {
        assertEq(recoverSigner(digest, r, vs), ReferenceReports.recover(digest, r, vs));
    }

    function testFuzz_recoverTo_writesZeroForAHighS(uint256 key, bytes32 digest, uint256 s, bool odd) public view {
        (bytes32 r,) = vm.signCompact(boundPrivateKey(key), digest);
        s = bound(s, HALF_ORDER + 1, type(uint256).max >> 1);
        assertNotEq(ecrecover(digest, odd ? 28 : 27, r, bytes32(s)), address(0));
        assertEq(recoverSigner(digest, r, bytes32(odd ? s | (1 << 255) : s)), address(0));
    }

    function testFuzz_recoverTo_acceptsHalfTheOrderAsS(uint256 key, bytes32 digest) public view {
        (bytes32 r,) = vm.signCompact(boundPrivateKey(key), digest);
        address signer = ecrecover(digest, 27, r, bytes32(HALF_ORDER));
        assertNotEq(signer, address(0));
        assertEq(recoverSigner(digest, r, bytes32(HALF_ORDER)), signer);
    }

    /// The precompile does not clear its output: what the word had before must not be taken for a signer.
    function testFuzz_recoverTo_writesZeroOverOtherContent(uint256 key, bytes32 digest) public view {
        (bytes32 r, bytes32 vs) = vm.signCompact(boundPrivateKey(key), digest);
        assertEq(recoverSigner(digest, 0, vs), address(0));
        assertEq(recoverSigner(digest, r, 0), address(0));
        assertEq(recoverSigner(digest, r, bytes32(HALF_ORDER + 1)), address(0));
    }
}
