// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {Providers} from "../utils/Providers.sol";
import {Update} from "../utils/UpdateArguments.sol";

/// @notice Sends packed updates of any content, as the plain twin packs them, to datasets as they are deployed.
/// forge-config: default.fuzz.runs = 100
contract PackedUpdateTest is DatasetFixture {
    function testFuzz_verify_takesWhatThePlainTwinPacks(uint256 size, uint256 seed, bytes memory key) public {
        Update memory update = _any(size, seed, key);
        (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = dataset.verify{value: PRICE}(update.pack());
        assertEq(updatedAt, START);
        assertEq(output, status == Oracle.QueryStatus.OK ? update.value : bytes32(0));
    }

    /// 100 bytes, the key, a bit for each member, 65 bytes and its value for each signer, and 20 for each absentee.
    function testFuzz_update_hasFewBytes(uint256 size, uint256 seed, bytes memory key) public {
        Update memory update = _any(size, seed, key);
        uint256 members = update.reports.length + update.absentees.length;
        uint256 bound_ = 100 + update.key.length + members / 8 + 20 * update.absentees.length;
        for (uint256 i = 0; i < update.reports.length; ++i) {
            bound_ += 65 + _width(update.reports[i].content);
        }
        // The claimed value is sent once for all who reported it.
        assertLe(update.encode().length, 4 + (bound_ - 4 + 31) / 32 * 32);
    }

    function test_update_hasFewBytesForAPrice() public {
        uint256[2][4] memory committees = [[uint256(4), 3], [uint256(5), 4], [uint256(13), 9], [uint256(31), 21]];
        uint256[4] memory bounds = [uint256(360), 440, 880, 1900];
        for (uint256 i = 0; i < 4; ++i) {
            providers = new Providers(committees[i][0], TOLERANCE_BPS);
            dataset = deploy(providers);
            uint256[] memory values = new uint256[](committees[i][1]);
            for (uint256 k = 0; k < values.length; ++k) {
                values[k] = type(uint80).max - k;
            }
            assertLe(providers.report(dataset, KEY, START, values).encode().length, bounds[i]);
        }
    }

    function testFuzz_update_RevertWhen_aByteIsChanged(uint256 seed, uint256 place, uint8 change, bool isNoData)
        public
    {
        bytes memory packed = _packed(seed, isNoData);
        packed[place % packed.length] ^= bytes1(change == 0 ? 1 : change);
        _assertRefused(packed, isNoData);
    }

    function testFuzz_update_RevertWhen_itIsCutOff(uint256 seed, uint256 length, bool isNoData) public {
        bytes memory packed = _packed(seed, isNoData);
        length = bound(length, 0, packed.length - 1);
        assembly ("memory-safe") {
            mstore(packed, length)
        }
        _assertRefused(packed, isNoData);
    }

    function testFuzz_update_RevertWhen_bytesFollow(uint256 seed, bytes memory rest, bool isNoData) public {
        vm.assume(rest.length > 0);
        bytes memory packed = _packed(seed, isNoData);
        bytes memory reason =
            abi.encodeWithSelector(IDataset.WrongLength.selector, packed.length + rest.length, packed.length);
        assertEq(_assertRefused(bytes.concat(packed, rest), isNoData), reason);
    }

    /// Wallets append a suffix that names them.
    function testFuzz_update_ignoresBytesBehindTheArgument(uint256 seed, bytes memory rest, bool isNoData) public {
        assertTrue(stores(bytes.concat(_call(_packed(seed, isNoData), isNoData), rest)));
    }

    /// @dev Returns an update of a new round, whose values are near each other or of any width.
    function _any(uint256 size, uint256 seed, bytes memory key) private returns (Update memory) {
        size = bound(size, 1, seed % 8 == 0 ? 255 : 13);
        providers = new Providers(size, TOLERANCE_BPS);
        dataset = deploy(providers);
        (uint256 signers, uint256 count) = anyQuorum(size, seed);
        uint256[] memory values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, "value", i)));
            // A median has at most 26 bytes.
            values[i] = random >> (48 + random % 209);
        }
        bytes32 filler = keccak256(key);
        key = bytes.concat(filler, key, filler, filler);
        uint256 length = 1 + seed % (key.length < 256 ? key.length : 256);
        assembly ("memory-safe") {
            mstore(key, length)
        }
        return providers.reportFrom(signers, dataset, key, START, values);
    }

    function _packed(uint256 seed, bool isNoData) private view returns (bytes memory) {
        (uint256 signers, uint256 count) = anyQuorum(4, seed);
        if (isNoData) return providers.reportNoDataFrom(signers, count, dataset, KEY, START).packNotAvailable();
        return providers.reportFrom(signers, dataset, KEY, START, valuesNear3000(count, seed)).pack();
    }

    function _call(bytes memory packed, bool isNoData) private pure returns (bytes memory) {
        if (isNoData) return abi.encodeCall(IDataset.updateNotAvailable, (packed));
        return abi.encodeCall(IDataset.update, (packed));
    }

    function _assertRefused(bytes memory packed, bool isNoData) private returns (bytes memory reason) {
        bool isDone;
        (isDone, reason) = address(dataset).call(_call(packed, isNoData));
        assertFalse(isDone, vm.toString(packed));
        assertGe(reason.length, 4, "no error");
    }

    function _width(bytes32 value) private pure returns (uint256 width) {
        for (uint256 rest = uint256(value); rest != 0; rest >>= 8) {
            ++width;
        }
    }
}
