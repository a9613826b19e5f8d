// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {DatasetFixture} from "../utils/DatasetFixture.sol";
import {RevertForwardingDeployer} from "../utils/RevertForwardingDeployer.sol";

/// @notice The function by which a `PythAdapter` learns a key.
interface IKeyList {
    event KeyListed(bytes32 indexed id, bytes key);

    function list(bytes calldata key) external returns (bytes32 id);
}

/// @notice An asset of a `QuoteAdapter`, as its constructor takes it.
struct Asset {
    address asset;
    bytes key;
}

contract Token {
    uint8 public immutable decimals;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }
}

/// @notice A dataset whose queries are charged, with a price of 3,000e18 under `KEY`, for adapters that subscribe.
abstract contract AdapterFixture is DatasetFixture {
    function setUp() public virtual override {
        super.setUp();
        store(3000e18, START);
    }

    /// @notice Pays for one period.
    function subscribe(address reader) internal {
        dataset.subscribe{value: SUBSCRIPTION_PRICE}(reader, 1);
    }

    function subscriptionNeeded(address reader) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, reader, SUBSCRIPTION_PRICE, 30 days);
    }

    function store(uint256 value, uint256 round) internal {
        store(KEY, value, round);
    }

    function store(bytes memory key, uint256 value, uint256 round) internal {
        if (block.timestamp < round) vm.warp(round);
        providers.report(dataset, key, round, equal(3, value)).send(dataset);
    }

    function storeNoData(uint256 round) internal {
        vm.warp(round);
        providers.reportNoData(dataset, KEY, round, 3).sendNotAvailable(dataset);
    }

    /// @dev Two of four values lie far away: more than f.
    function storeDisagreement(uint256 round) internal {
        vm.warp(round);
        uint256[] memory values = new uint256[](4);
        (values[0], values[1], values[2], values[3]) = (1000e18, 2000e18, 3000e18, 4000e18);
        providers.report(dataset, KEY, round, values).send(dataset);
    }

    /// @notice Asserts that a constructor reverts with exactly this error.
    function assertRefused(bytes memory code, bytes memory arguments, bytes memory reason) internal {
        RevertForwardingDeployer deployer = new RevertForwardingDeployer();
        vm.expectRevert(reason);
        deployer.deploy(bytes.concat(code, arguments));
    }
}
