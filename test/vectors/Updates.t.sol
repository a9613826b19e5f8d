// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

/// @notice Sends updates that TypeScript encoded to the dataset that they are for.
contract UpdateVectorsTest is VectorFixture {
    function test_update_storesTheValuesOfTheVectors() public {
        load("updates", "updates");
        uint256 items = count();
        uint256 before = vm.snapshotState();
        for (uint256 i = 0; i < items; ++i) {
            // All updates are for the same address, so each starts from an empty dataset.
            vm.revertToState(before);
            IDataset dataset = deploy(i);
            uint256 keys = 0;
            for (; has(i, inKey(keys, "key")); ++keys) {
                dataset.announce(hexBytes(i, inKey(keys, "key")));
            }
            assertGt(keys, 0, text(i, "name"));

            (bool isDone, bytes memory answer) = address(dataset).call(hexBytes(i, "data"));
            assertTrue(isDone, string.concat(text(i, "name"), ": ", vm.toString(answer)));
            for (uint256 k = 0; k < keys; ++k) {
                (bytes32 value, uint256 updatedAt, Oracle.QueryStatus status) =
                    dataset.query(hexBytes(i, inKey(k, "key")));
                assertEq(updatedAt, flag(i, inKey(k, "isStored")) ? number(i, "timestamp") : 0, text(i, "name"));
                assertEq(uint256(status), number(i, inKey(k, "status")), text(i, "name"));
                assertEq(value, word(i, inKey(k, "value")), text(i, "name"));
            }
        }
    }

    function deploy(uint256 index) private returns (IDataset) {
        vm.chainId(number(index, "chainId"));
        vm.warp(number(index, "timestamp"));
        address dataset = account(index, "dataset");
        DatasetSettings memory settings = DatasetSettings({
            owner: makeAddr("owner"),
            keyForm: KeyForm.SPOT_PRICE,
            maxRoundAge: 300,
            priceCeiling: 0,
            queryPrice: 0,
            subscriptionPriceCeiling: 0,
            subscriptionPrice: 0,
            toleranceBps: number(index, "toleranceBps"),
            members: accounts(index, "members")
        });
        string memory artifact =
            flag(index, "isMedian") ? "MedianDataset.sol:MedianDataset" : "MajorityDataset.sol:MajorityDataset";
        deployCodeTo(artifact, abi.encode(settings), dataset);
        return IDataset(dataset);
    }

    function inKey(uint256 key, string memory field) private pure returns (string memory) {
        return string.concat("keys[", vm.toString(key), "].", field);
    }
}
