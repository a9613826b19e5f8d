// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {UpdateCalldata} from "../../src/libraries/UpdateCalldata.sol";
import {Update, isUpdateSelector} from "../utils/UpdateArguments.sol";

/// forge-config: default.fuzz.runs = 100
contract UpdateCalldataTest is Test {
    function testFuzz_toVerificationCalldata_keepsEveryArgument(Update memory update) public view {
        bytes memory expected = update.encode();
        _setSelector(expected, IDataset.verify.selector);
        assertEq(this.toVerificationCalldata(update.encode(), update.key), expected);

        expected = update.encodeNotAvailable();
        _setSelector(expected, IDataset.verifyNotAvailable.selector);
        assertEq(this.toVerificationCalldata(update.encodeNotAvailable(), update.key), expected);
    }

    function testFuzz_toVerificationCalldata_RevertWhen_theKeyIsAnother(Update memory update, bytes memory key) public {
        vm.assume(keccak256(key) != keccak256(update.key));
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.UpdateOfAnotherKey.selector, update.key, key));
        this.toVerificationCalldata(update.encode(), key);
    }

    function testFuzz_toVerificationCalldata_RevertWhen_itIsNoUpdate(bytes4 selector, bytes memory rest) public {
        if (rest.length % 4 == 0) selector = IDataset.updateBatch.selector;
        vm.assume(selector != IDataset.update.selector && selector != IDataset.updateNotAvailable.selector);
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, selector));
        this.toVerificationCalldata(bytes.concat(selector, rest), "");
    }

    function test_toVerificationCalldata_RevertWhen_thereAreNoFourBytes() public {
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, bytes4(0)));
        this.toVerificationCalldata(hex"0a06ed", "");
    }

    function testFuzz_toVerificationCalldata_RevertWhen_theKeyIsCutOff(uint256 length) public {
        bytes memory cut = new bytes(bound(length, 4, 4 + 0x5f));
        // The offset 0x20 and the length 0x20 of a key that does not lie within the calldata.
        (cut[4 + 0x1f < cut.length ? 4 + 0x1f : 3], cut[4 + 0x3f < cut.length ? 4 + 0x3f : 3]) = (0x20, 0x20);
        _setSelector(cut, IDataset.update.selector);
        vm.expectRevert(bytes(""));
        this.toVerificationCalldata(cut, new bytes(0x20));
    }

    /// The key is read as the compiler's decoder reads it, wherever the calldata says that it is.
    function testFuzz_toVerificationCalldata_equalsTheSameInPlainSolidity(
        Update memory update,
        uint256 word,
        bytes32 content,
        uint256 length
    ) public view {
        bytes memory data = update.encode();
        // One of the first words, which tell where the key is and how long.
        word = bound(word, 0, 9);
        if (uint256(content) % 4 == 0) content = bytes32(uint256(content) % 0x200);
        if (uint256(content) % 4 == 1) content = bytes32(type(uint256).max - uint256(content) % 0x200);
        assembly ("memory-safe") {
            mstore(add(add(data, 0x24), mul(word, 0x20)), content)
            mstore(data, sub(mload(data), mod(length, 0x100)))
        }
        (bool isDone, bytes memory result) =
            address(this).staticcall(abi.encodeCall(this.toVerificationCalldata, (data, update.key)));
        (bool isDonePlainly, bytes memory expected) =
            address(this).staticcall(abi.encodeCall(this.plainly, (data, update.key)));
        assertEq(isDone, isDonePlainly);
        assertEq(result, expected);
    }

    function testFuzz_requireUpdate_RevertWhen_itIsNone(bytes memory data) public {
        // forge-lint: disable-next-line(unsafe-typecast)
        bytes4 selector = data.length < 4 ? bytes4(0) : bytes4(data);
        vm.assume(!isUpdateSelector(selector));
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, selector));
        this.requireUpdate(data);
    }

    function test_requireUpdate_acceptsTheThreeUpdates() public view {
        this.requireUpdate(bytes.concat(IDataset.update.selector));
        this.requireUpdate(bytes.concat(IDataset.updateNotAvailable.selector));
        this.requireUpdate(bytes.concat(IDataset.updateBatch.selector));
    }

    function toVerificationCalldata(bytes calldata update, bytes calldata key) external pure returns (bytes memory) {
        return UpdateCalldata.toVerificationCalldata(update, key);
    }

    function plainly(bytes calldata update, bytes calldata key) external pure returns (bytes memory) {
        bytes memory updated = abi.decode(update[4:], (bytes));
        if (keccak256(updated) != keccak256(key)) revert UpdateCalldata.UpdateOfAnotherKey(updated, key);
        return bytes.concat(IDataset.verify.selector, update[4:]);
    }

    function requireUpdate(bytes calldata update) external pure {
        UpdateCalldata.requireUpdate(update);
    }

    function _setSelector(bytes memory data, bytes4 selector) private pure {
        for (uint256 i = 0; i < 4; ++i) {
            data[i] = selector[i];
        }
    }
}
