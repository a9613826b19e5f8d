// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {UpdateCalldata} from "../../src/libraries/UpdateCalldata.sol";
import {Update} from "../utils/UpdateArguments.sol";

/// forge-config: default.fuzz.runs = 100
contract UpdateCalldataTest is Test {
    function testFuzz_toUpdate_callsTheFunctionOfTheKind(uint8 kind, bytes memory rest) public view {
        bytes4[3] memory selectors =
            [IDataset.update.selector, IDataset.updateNotAvailable.selector, IDataset.updateBatch.selector];
        kind %= 3;
        bytes memory update = bytes.concat(bytes1(kind + 1), rest);
        _assertCalls(this.toUpdate(update), selectors[kind], update);
    }

    function testFuzz_toUpdate_RevertWhen_itIsNone(bytes memory update) public {
        uint256 kind = update.length == 0 ? 0 : uint8(update[0]);
        vm.assume(kind == 0 || kind > 3);
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, kind));
        this.toUpdate(update);
    }

    function testFuzz_toVerification_callsTheFunctionOfTheKind(Update memory update) public view {
        bytes memory packed = update.pack();
        _assertCalls(this.toVerification(packed, update.key), IDataset.verify.selector, packed);
        packed = update.packNotAvailable();
        _assertCalls(this.toVerification(packed, update.key), IDataset.verifyNotAvailable.selector, packed);
    }

    function testFuzz_toVerification_RevertWhen_theKeyIsAnother(Update memory update, bytes memory key) public {
        vm.assume(keccak256(key) != keccak256(update.key));
        bytes memory packed = update.pack();
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.UpdateOfAnotherKey.selector, update.key, key));
        this.toVerification(packed, key);
    }

    function testFuzz_toVerification_RevertWhen_itIsNoUpdateOfOneKey(bytes memory update) public {
        uint256 kind = update.length == 0 ? 0 : uint8(update[0]);
        vm.assume(kind == 0 || kind > 2);
        vm.expectRevert(abi.encodeWithSelector(UpdateCalldata.NotAnUpdate.selector, kind));
        this.toVerification(update, "");
    }

    function testFuzz_toVerification_RevertWhen_theKeyIsCutOff(Update memory update, uint256 length) public {
        bytes memory packed = update.pack();
        uint256 end = 11 + update.key.length;
        length = bound(length, 11, end);
        vm.assume(length < end);
        assembly ("memory-safe") {
            mstore(packed, length)
        }
        vm.expectRevert(abi.encodeWithSelector(IDataset.WrongLength.selector, length, end));
        this.toVerification(packed, update.key);
    }

    function toUpdate(bytes calldata update) external pure returns (bytes memory) {
        return UpdateCalldata.toUpdate(update);
    }

    function toVerification(bytes calldata update, bytes calldata key) external pure returns (bytes memory) {
        return UpdateCalldata.toVerification(update, key);
    }

    function decode(bytes calldata data) external pure returns (bytes4, bytes memory) {
        // forge-lint: disable-next-line(unsafe-typecast)
        return (bytes4(data), abi.decode(data[4:], (bytes)));
    }

    /// @dev The calldata ends without padding.
    function _assertCalls(bytes memory data, bytes4 selector, bytes memory update) private view {
        (bytes4 selector_, bytes memory argument) = this.decode(data);
        assertEq(selector_, selector);
        assertEq(argument, update);
        assertEq(data.length, 4 + 64 + update.length);
    }
}
