// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {Providers} from "./Providers.sol";

/// @notice A MedianDataset as it is shipped, and the providers that are its committee.
abstract contract DatasetFixture is Test {
    bytes internal constant KEY = "SPOTPX/ETH-USD";
    uint256 internal constant PRICE = 0.001 ether;
    uint256 internal constant PRICE_CEILING = 0.01 ether;
    uint256 internal constant MAX_ROUND_AGE = 300;
    uint256 internal constant TOLERANCE_BPS = 100;
    uint256 internal constant START = 1_790_000_000;

    address internal immutable OWNER = makeAddr("owner");

    Providers internal providers;
    IDataset internal dataset;

    function setUp() public virtual {
        vm.warp(START);
        providers = new Providers(4, TOLERANCE_BPS);
        dataset = deploy(providers);
    }

    function deploy(Providers providers_) internal returns (IDataset) {
        return deploy(settings(providers_));
    }

    function deploy(DatasetSettings memory settings_) internal returns (IDataset) {
        return IDataset(deployCode("MedianDataset.sol:MedianDataset", abi.encode(settings_)));
    }

    function settings(Providers providers_) internal view returns (DatasetSettings memory) {
        return DatasetSettings({
            owner: OWNER,
            keyForm: KeyForm.SPOT_PRICE,
            maxRoundAge: MAX_ROUND_AGE,
            priceCeiling: PRICE_CEILING,
            queryPrice: PRICE,
            toleranceBps: providers_.toleranceBps(),
            members: providers_.members()
        });
    }

    /// @notice Values near 3,000e18 that differ by provider in their last eight digits at least.
    function valuesNear3000(uint256 count, uint256 seed) internal pure returns (uint256[] memory values) {
        values = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            values[i] = 3000e18 + uint256(keccak256(abi.encode(seed, i))) % 1e18;
        }
    }
}
