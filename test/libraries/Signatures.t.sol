// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Signatures} from "../../src/libraries/Signatures.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";

contract SignaturesTest is Test {
    uint256 private constant HALF_ORDER = SECP256K1_ORDER / 2;

    function testFuzz_recover_returnsTheSigner(uint256 key, bytes32 digest) public view {
        key = boundPrivateKey(key);
        (bytes32 r, bytes32 vs) = vm.signCompact(key, digest);
        assertEq(Signatures.recover(digest, r, vs), vm.addr(key));
    }

    function testFuzz_recover_matchesPlainSolidity(bytes32 digest, bytes32 r, bytes32 vs) public view {
        assertEq(Signatures.recover(digest, r, vs), ReferenceReports.recover(digest, r, vs));
    }

    function testFuzz_recover_returnsZeroForAHighS(uint256 key, bytes32 digest, uint256 s, bool odd) public view {
        (bytes32 r,) = vm.signCompact(boundPrivateKey(key), digest);
        s = bound(s, HALF_ORDER + 1, type(uint256).max >> 1);
        assertNotEq(ecrecover(digest, odd ? 28 : 27, r, bytes32(s)), address(0));
        assertEq(Signatures.recover(digest, r, bytes32(odd ? s | (1 << 255) : s)), address(0));
    }

    function testFuzz_recover_acceptsHalfTheOrderAsS(uint256 key, bytes32 digest) public view {
        (bytes32 r,) = vm.signCompact(boundPrivateKey(key), digest);
        address signer = ecrecover(digest, 27, r, bytes32(HALF_ORDER));
        assertNotEq(signer, address(0));
        assertEq(Signatures.recover(digest, r, bytes32(HALF_ORDER)), signer);
    }

    /// The precompile does not clear its output: an earlier result must not be taken for a signer.
    function testFuzz_recover_returnsZeroRightAfterASigner(uint256 key, bytes32 digest) public view {
        (bytes32 r, bytes32 vs) = vm.signCompact(boundPrivateKey(key), digest);
        Signatures.recover(digest, r, vs);
        assertEq(Signatures.recover(digest, 0, vs), address(0));
        Signatures.recover(digest, r, vs);
        assertEq(Signatures.recover(digest, r, 0), address(0));
        Signatures.recover(digest, r, vs);
        assertEq(Signatures.recover(digest, r, bytes32(HALF_ORDER + 1)), address(0));
    }

    function testFuzz_recover_overlapsNothing(uint256 key, bytes32 digest, bytes memory before) public view {
        bytes32 hash = keccak256(before);
        (bytes32 r, bytes32 vs) = vm.signCompact(boundPrivateKey(key), digest);
        Signatures.recover(digest, r, vs);
        assertEq(keccak256(before), hash);
    }
}
