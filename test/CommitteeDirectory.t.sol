// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {ICommitteeDirectory} from "../src/interfaces/ICommitteeDirectory.sol";
import {ReferenceAnnouncements} from "./utils/ReferenceAnnouncements.sol";

contract CommitteeDirectoryTest is Test {
    uint256 private constant START = 1_790_000_000;
    string private constant URL = "https://node.example";

    ICommitteeDirectory private directory;
    address private provider;
    uint256 private privateKey;

    function setUp() public {
        vm.warp(START);
        (provider, privateKey) = makeAddrAndKey("provider");
        directory = _deploy();
    }

    function _deploy() private returns (ICommitteeDirectory) {
        return ICommitteeDirectory(deployCode("CommitteeDirectory.sol:CommitteeDirectory"));
    }

    // ---------------------------------------------------------------- announcements

    /// Whoever brings it, and also without a URL, which withdraws the one before.
    function testFuzz_announce_emitsAndKeepsWhatIsSigned(string memory url, uint256 issuedAt, address caller) public {
        vm.assume(bytes(url).length <= 256 && caller != address(vm));
        issuedAt = bound(issuedAt, 1, START);
        bytes memory signature = _sign(privateKey, provider, url, issuedAt);
        vm.expectEmit(address(directory));
        emit ICommitteeDirectory.Announced(provider, url, issuedAt);
        vm.prank(caller);
        directory.announce(provider, url, issuedAt, signature);
        _assertAnnounced(provider, url, issuedAt);
    }

    function testFuzz_announce_isEachProvidersOwn(uint256 otherKey) public {
        otherKey = boundPrivateKey(otherKey);
        vm.assume(otherKey != privateKey);
        address other = vm.addr(otherKey);
        _announce(URL, START);
        string memory otherUrl = "https://other.example";
        directory.announce(other, otherUrl, START - 1, _sign(otherKey, other, otherUrl, START - 1));
        _assertAnnounced(provider, URL, START);
        _assertAnnounced(other, otherUrl, START - 1);
    }

    /// A shorter URL leaves nothing of a longer one behind, nor the other way round.
    function testFuzz_announce_takesALaterOne(
        string memory firstUrl,
        string memory secondUrl,
        uint256 first,
        uint256 second
    ) public {
        vm.assume(bytes(firstUrl).length <= 256 && bytes(secondUrl).length <= 256);
        second = bound(second, 2, START);
        first = bound(first, 1, second - 1);
        _announce(firstUrl, first);
        _announce(secondUrl, second);
        _assertAnnounced(provider, secondUrl, second);
    }

    // ---------------------------------------------------------------- refused announcements

    function test_announce_RevertWhen_theUrlHas257Bytes() public {
        string memory url = string(new bytes(257));
        bytes memory reason = abi.encodeWithSelector(ICommitteeDirectory.UrlTooLong.selector, 257, 256);
        _refuse(url, START, _sign(privateKey, provider, url, START), reason);
        url = string(new bytes(256));
        _announce(url, START);
        _assertAnnounced(provider, url, START);
    }

    function testFuzz_announce_RevertWhen_itIsOfTheFuture(uint256 issuedAt) public {
        issuedAt = bound(issuedAt, START + 1, type(uint256).max);
        _refuse(
            URL,
            issuedAt,
            _sign(privateKey, provider, URL, issuedAt),
            abi.encodeWithSelector(ICommitteeDirectory.FutureAnnouncement.selector, issuedAt, START)
        );
    }

    /// An old announcement, or the same one again, replaces nothing: nobody can bring back a provider's old URL.
    function testFuzz_announce_RevertWhen_itIsNotNewer(uint256 latest, uint256 issuedAt) public {
        latest = bound(latest, 1, START);
        issuedAt = bound(issuedAt, 0, latest);
        bytes memory signature = _sign(privateKey, provider, URL, issuedAt);
        _announce("https://other.example", latest);
        vm.expectRevert(abi.encodeWithSelector(ICommitteeDirectory.StaleAnnouncement.selector, issuedAt, latest));
        directory.announce(provider, URL, issuedAt, signature);
        _assertAnnounced(provider, "https://other.example", latest);
    }

    function testFuzz_announce_RevertWhen_anotherSigned(uint256 otherKey) public {
        otherKey = boundPrivateKey(otherKey);
        vm.assume(otherKey != privateKey);
        _refuse(URL, START, _sign(otherKey, provider, URL, START), _wrongSigner(vm.addr(otherKey)));
    }

    /// Another URL or time, or the same for another chain or directory.
    function testFuzz_announce_RevertWhen_somethingElseWasSigned(string memory url, uint256 issuedAt) public {
        vm.assume(keccak256(bytes(url)) != keccak256(bytes(URL)) && issuedAt != START);
        _refuseSignature(_sign(privateKey, provider, url, START));
        _refuseSignature(_sign(privateKey, provider, URL, issuedAt));
        bytes memory signature = _sign(privateKey, provider, URL, START);
        vm.chainId(block.chainid + 1);
        _refuseSignature(signature);
        vm.chainId(block.chainid - 1);
        directory = _deploy();
        _refuseSignature(signature);
    }

    /// An invalid signature recovers to the zero address.
    function test_announce_RevertWhen_nobodySigned() public {
        vm.expectRevert(abi.encodeWithSelector(ICommitteeDirectory.WrongSigner.selector, address(0), address(0)));
        directory.announce(address(0), URL, START, new bytes(65));
        _assertAnnounced(address(0), "", 0);
    }

    // ---------------------------------------------------------------- steps

    function _announce(string memory url, uint256 issuedAt) private {
        directory.announce(provider, url, issuedAt, _sign(privateKey, provider, url, issuedAt));
    }

    function _refuse(string memory url, uint256 issuedAt, bytes memory signature, bytes memory reason) private {
        vm.expectRevert(reason);
        directory.announce(provider, url, issuedAt, signature);
        _assertAnnounced(provider, "", 0);
    }

    /// @dev A signature of something else recovers to an unpredictable address.
    function _refuseSignature(bytes memory signature) private {
        vm.expectPartialRevert(ICommitteeDirectory.WrongSigner.selector);
        directory.announce(provider, URL, START, signature);
        _assertAnnounced(provider, "", 0);
    }

    function _wrongSigner(address signer) private view returns (bytes memory) {
        return abi.encodeWithSelector(ICommitteeDirectory.WrongSigner.selector, provider, signer);
    }

    function _assertAnnounced(address announced, string memory url, uint256 issuedAt) private view {
        (string memory url_, uint256 issuedAt_) = directory.announcementOf(announced);
        assertEq(url_, url, "url");
        assertEq(issuedAt_, issuedAt, "issuedAt");
    }

    function _sign(uint256 key, address signer, string memory url, uint256 issuedAt)
        private
        view
        returns (bytes memory)
    {
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, ReferenceAnnouncements.digest(address(directory), signer, url, issuedAt));
        return abi.encodePacked(r, s, v);
    }
}
