// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {IDataset, Statement} from "../../src/interfaces/IDataset.sol";
import {Providers} from "../utils/Providers.sol";
import {Report} from "../utils/UpdateArguments.sol";
import {GasFixture} from "./GasFixture.sol";

/// @notice Measures whole accusations with cold storage. The committee has income to share, and the accuser already holds
/// Ether.
/// forge-config: default.isolate = true
contract AccuseGasTest is GasFixture {
    address private immutable ACCUSER = makeAddr("accuser");

    function test_accuse_5members() public {
        _snapshot("accusation, 5 members", 5, 65_000);
    }

    function test_accuse_13members() public {
        _snapshot("accusation, 13 members", 13, 76_000);
    }

    function test_accuse_31members() public {
        _snapshot("accusation, 31 members", 31, 101_000);
    }

    function _snapshot(string memory name, uint256 members, uint256 most) private {
        Providers committee = new Providers(members, TOLERANCE_BPS);
        IDataset target = deploy(committee);
        // A remainder is left from the last time that income was shared.
        vm.deal(address(target), 1 ether);
        target.shareIncome(committee.members(), TOLERANCE_BPS);
        vm.warp(START + 60);
        for (uint256 i = 0; i < 10; ++i) {
            query(target, KEY);
        }
        vm.deal(ACCUSER, 1 ether);
        bytes memory data = abi.encodeCall(
            IDataset.accuse,
            (
                keccak256(KEY),
                START + 58,
                _value(committee, target, 3000e18 + 1),
                _value(committee, target, 3000e18 + 2),
                committee.members(),
                TOLERANCE_BPS
            )
        );
        vm.startPrank(ACCUSER);
        measure("accuse", name, address(target), data);
        vm.stopPrank();
        assertLe(vm.lastCallGas().gasTotalUsed, most);
        assertGt(ACCUSER.balance, 1 ether);
    }

    function _value(Providers committee, IDataset target, uint256 value) private view returns (Statement memory) {
        Report memory report = committee.sign(target, KEY, Oracle.QueryStatus.OK, START + 58, value, 1);
        bytes32[] memory values = new bytes32[](1);
        values[0] = report.content;
        return Statement(uint256(Oracle.QueryStatus.OK), new bytes32[](0), values, 0, report.r, report.vs);
    }
}
