// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {ICommitteeDirectory} from "../src/interfaces/ICommitteeDirectory.sol";
import {ReferenceAnnouncements} from "./utils/ReferenceAnnouncements.sol";

contract CommitteeDirectoryTest is Test {
    uint256 private constant START = 1_790_000_000;
    string private constant URL = "https://node.example";
    address private immutable SUBMITTER = makeAddr("submitter");

    ICommitteeDirectory private directory;
    address private provider;
    uint256 private privateKey;

    function setUp() public {
        vm.warp(START);
        vm.roll(1_000);
        (provider, privateKey) = makeAddrAndKey("provider");
        directory = _deploy();
    }

    function _deploy() private returns (ICommitteeDirectory) {
        return ICommitteeDirectory(deployCode("CommitteeDirectory.sol:CommitteeDirectory"));
    }

    // ---------------------------------------------------------------- announcements

    function testFuzz_announce_emitsWhatIsSignedAndKeepsTheBlock(
        string memory url,
        address submitter,
        uint256 issuedAt,
        uint64 blockNumber
    ) public {
        vm.assume(bytes(url).length <= 256);
        issuedAt = bound(issuedAt, 1, START);
        vm.roll(bound(blockNumber, 1, type(uint64).max));
        bytes memory signature = _sign(privateKey, provider, url, submitter, issuedAt);
        vm.expectEmit(address(directory));
        emit ICommitteeDirectory.Announced(provider, url, submitter, issuedAt);
        directory.announce(provider, url, submitter, issuedAt, signature);
        _assertAnnounced(provider, issuedAt, vm.getBlockNumber());
    }

    function testFuzz_announce_isOpenToAnyone(address caller) public {
        vm.assume(caller != address(vm));
        bytes memory signature = _sign(privateKey, provider, URL, SUBMITTER, START);
        vm.prank(caller);
        directory.announce(provider, URL, SUBMITTER, START, signature);
        _assertAnnounced(provider, START, 1_000);
    }

    function testFuzz_announce_isEachProvidersOwn(uint256 otherKey) public {
        otherKey = boundPrivateKey(otherKey);
        vm.assume(otherKey != privateKey);
        address other = vm.addr(otherKey);
        _announce(URL, START);
        vm.roll(2_000);
        directory.announce(other, URL, SUBMITTER, START - 1, _sign(otherKey, other, URL, SUBMITTER, START - 1));
        _assertAnnounced(provider, START, 1_000);
        _assertAnnounced(other, START - 1, 2_000);
    }

    function testFuzz_announce_takesALaterOne(uint256 first, uint256 second) public {
        second = bound(second, 2, START);
        first = bound(first, 1, second - 1);
        _announce(URL, first);
        vm.roll(2_000);
        _announce("https://other.example", second);
        _assertAnnounced(provider, second, 2_000);
    }

    function test_announce_withdrawsWithoutAUrl() public {
        _announce(URL, START - 1);
        bytes memory signature = _sign(privateKey, provider, "", address(0), START);
        vm.expectEmit(address(directory));
        emit ICommitteeDirectory.Announced(provider, "", address(0), START);
        directory.announce(provider, "", address(0), START, signature);
        _assertAnnounced(provider, START, 1_000);
    }

    function test_announce_acceptsAUrlOf256Bytes() public {
        _announce(string(new bytes(256)), START);
        _assertAnnounced(provider, START, 1_000);
    }

    function testFuzz_announcementOf_isZeroForAnotherProvider(address other) public {
        vm.assume(other != provider);
        _announce(URL, START);
        _assertAnnounced(other, 0, 0);
    }

    // ---------------------------------------------------------------- refused announcements

    function testFuzz_announce_RevertWhen_theUrlIsTooLong(uint256 length) public {
        length = bound(length, 257, 2_000);
        string memory url = string(new bytes(length));
        _refuse(
            url,
            START,
            _sign(privateKey, provider, url, SUBMITTER, START),
            abi.encodeWithSelector(ICommitteeDirectory.UrlTooLong.selector, length, 256)
        );
    }

    function test_announce_RevertWhen_theUrlHas257Bytes() public {
        string memory url = string(new bytes(257));
        _refuse(
            url,
            START,
            _sign(privateKey, provider, url, SUBMITTER, START),
            abi.encodeWithSelector(ICommitteeDirectory.UrlTooLong.selector, 257, 256)
        );
    }

    function testFuzz_announce_RevertWhen_itIsOfTheFuture(uint256 issuedAt) public {
        issuedAt = bound(issuedAt, START + 1, type(uint256).max);
        _refuse(
            URL,
            issuedAt,
            _sign(privateKey, provider, URL, SUBMITTER, issuedAt),
            abi.encodeWithSelector(ICommitteeDirectory.FutureAnnouncement.selector, issuedAt, START)
        );
    }

    /// An old announcement, or the same one again, replaces nothing: nobody can bring back a provider's old URL.
    function testFuzz_announce_RevertWhen_itIsNotNewer(uint256 latest, uint256 issuedAt) public {
        latest = bound(latest, 1, START);
        issuedAt = bound(issuedAt, 0, latest);
        bytes memory signature = _sign(privateKey, provider, URL, SUBMITTER, issuedAt);
        _announce("https://other.example", latest);
        vm.roll(2_000);
        vm.expectRevert(abi.encodeWithSelector(ICommitteeDirectory.StaleAnnouncement.selector, issuedAt, latest));
        directory.announce(provider, URL, SUBMITTER, issuedAt, signature);
        _assertAnnounced(provider, latest, 1_000);
    }

    function test_announce_RevertWhen_itIsIssuedAtZero() public {
        _refuse(
            URL,
            0,
            _sign(privateKey, provider, URL, SUBMITTER, 0),
            abi.encodeWithSelector(ICommitteeDirectory.StaleAnnouncement.selector, 0, 0)
        );
    }

    function testFuzz_announce_RevertWhen_anotherSigned(uint256 otherKey) public {
        otherKey = boundPrivateKey(otherKey);
        vm.assume(otherKey != privateKey);
        _refuse(URL, START, _sign(otherKey, provider, URL, SUBMITTER, START), _wrongSigner(vm.addr(otherKey)));
    }

    function testFuzz_announce_RevertWhen_anotherUrlWasSigned(string memory url) public {
        vm.assume(keccak256(bytes(url)) != keccak256(bytes(URL)));
        _refuseSignature(_sign(privateKey, provider, url, SUBMITTER, START));
    }

    function testFuzz_announce_RevertWhen_anotherSubmitterWasSigned(address submitter) public {
        vm.assume(submitter != SUBMITTER);
        _refuseSignature(_sign(privateKey, provider, URL, submitter, START));
    }

    function testFuzz_announce_RevertWhen_anotherTimeWasSigned(uint256 issuedAt) public {
        vm.assume(issuedAt != START);
        _refuseSignature(_sign(privateKey, provider, URL, SUBMITTER, issuedAt));
    }

    function test_announce_RevertWhen_signedForAnotherChain() public {
        bytes memory signature = _sign(privateKey, provider, URL, SUBMITTER, START);
        vm.chainId(block.chainid + 1);
        _refuseSignature(signature);
    }

    function test_announce_RevertWhen_signedForAnotherDirectory() public {
        bytes memory signature = _sign(privateKey, provider, URL, SUBMITTER, START);
        directory = _deploy();
        _refuseSignature(signature);
    }

    function test_announce_RevertWhen_theSignatureIsMalleated() public {
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(privateKey, ReferenceAnnouncements.digest(address(directory), provider, URL, SUBMITTER, START));
        bytes memory signature =
            abi.encodePacked(r, bytes32(SECP256K1_ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        _refuse(URL, START, signature, _wrongSigner(address(0)));
    }

    function testFuzz_announce_RevertWhen_theSignatureHasAnotherLength(bytes memory signature) public {
        vm.assume(signature.length != 65);
        _refuse(URL, START, signature, _wrongSigner(address(0)));
    }

    /// An invalid signature recovers to the zero address.
    function test_announce_RevertWhen_nobodySigned() public {
        vm.expectRevert(abi.encodeWithSelector(ICommitteeDirectory.WrongSigner.selector, address(0), address(0)));
        directory.announce(address(0), URL, SUBMITTER, START, new bytes(65));
        _assertAnnounced(address(0), 0, 0);
    }

    // ---------------------------------------------------------------- steps

    function _announce(string memory url, uint256 issuedAt) private {
        directory.announce(provider, url, SUBMITTER, issuedAt, _sign(privateKey, provider, url, SUBMITTER, issuedAt));
    }

    function _refuse(string memory url, uint256 issuedAt, bytes memory signature, bytes memory reason) private {
        vm.expectRevert(reason);
        directory.announce(provider, url, SUBMITTER, issuedAt, signature);
        _assertAnnounced(provider, 0, 0);
    }

    /// @dev A signature of something else recovers to an unpredictable address.
    function _refuseSignature(bytes memory signature) private {
        vm.expectPartialRevert(ICommitteeDirectory.WrongSigner.selector);
        directory.announce(provider, URL, SUBMITTER, START, signature);
        _assertAnnounced(provider, 0, 0);
    }

    function _wrongSigner(address signer) private view returns (bytes memory) {
        return abi.encodeWithSelector(ICommitteeDirectory.WrongSigner.selector, provider, signer);
    }

    function _assertAnnounced(address announced, uint256 issuedAt, uint256 blockNumber) private view {
        (uint256 issuedAt_, uint256 blockNumber_) = directory.announcementOf(announced);
        assertEq(issuedAt_, issuedAt, "issuedAt");
        assertEq(blockNumber_, blockNumber, "blockNumber");
    }

    function _sign(uint256 key, address signer, string memory url, address submitter, uint256 issuedAt)
        private
        view
        returns (bytes memory)
    {
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, ReferenceAnnouncements.digest(address(directory), signer, url, submitter, issuedAt));
        return abi.encodePacked(r, s, v);
    }
}
