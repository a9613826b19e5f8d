// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Providers} from "../utils/Providers.sol";
import {Update} from "../utils/UpdateArguments.sol";
import {GasFixture} from "./GasFixture.sol";

interface IUpdateBringingConsumer {
    function updateAndQuery(bytes calldata update) external returns (uint256);
    function verify(bytes calldata update) external returns (uint256);
}

/// @notice Measures whole transactions of a consumer that brings an update, with cold storage, in steady state. They
/// pay the query price.
/// forge-config: default.isolate = true
contract ConsumerUpdateGasTest is GasFixture {
    IUpdateBringingConsumer private consumer;

    function test_updateAndQuery_4of5() public {
        (, Update memory update) = _prepare(5, 4);
        _measure(
            "updateAndQuerySpotPrice, paid, 4 of 5 signers",
            abi.encodeCall(IUpdateBringingConsumer.updateAndQuery, (update.pack()))
        );
    }

    function test_updateAndQuery_anotherSenderWasFaster() public {
        (IDataset target, Update memory update) = _prepare(5, 4);
        update.send(target);
        _measure(
            "updateAndQuerySpotPrice, paid, another sender was faster",
            abi.encodeCall(IUpdateBringingConsumer.updateAndQuery, (update.pack()))
        );
    }

    function test_verify_3of4() public {
        _measureVerify(4, 3, "verifySpotPrice, paid, 3 of 4 signers", PRICE);
    }

    function test_verify_4of5() public {
        _measureVerify(5, 4, "verifySpotPrice, paid, 4 of 5 signers", PRICE);
    }

    function test_verify_9of13() public {
        _measureVerify(13, 9, "verifySpotPrice, paid, 9 of 13 signers", PRICE);
    }

    function test_verify_3of4Free() public {
        _measureVerify(4, 3, "verifySpotPrice, price 0, 3 of 4 signers", 0);
    }

    function test_verify_4of5Free() public {
        _measureVerify(5, 4, "verifySpotPrice, price 0, 4 of 5 signers", 0);
    }

    function test_verify_9of13Free() public {
        _measureVerify(13, 9, "verifySpotPrice, price 0, 9 of 13 signers", 0);
    }

    function _measureVerify(uint256 members, uint256 signers, string memory name, uint256 price) private {
        (IDataset target, Update memory update) = _prepare(members, signers);
        vm.prank(OWNER);
        target.setQueryPrice(price);
        _measure(name, abi.encodeCall(IUpdateBringingConsumer.verify, (update.pack())));
    }

    /// @dev The first payment is more expensive, because the dataset's balance is still zero.
    function _prepare(uint256 members, uint256 signers) private returns (IDataset target, Update memory update) {
        Providers committee = new Providers(members, TOLERANCE_BPS);
        target = deploy(committee);
        committee.report(target, KEY, START, valuesNear3000(signers, 1)).send(target);
        consumer =
            IUpdateBringingConsumer(deployCode("Consumers.sol:UpdateBringingConsumer", abi.encode(target), 1 ether));
        query(target, KEY);
        vm.warp(START + 60);
        update = committee.report(target, KEY, START + 58, valuesNear3000(signers, 2));
    }

    function _measure(string memory name, bytes memory data) private {
        measure("consumer-update", name, address(consumer), data);
    }
}
