// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {Deployed, vm} from "./Deployed.sol";

/// @notice The deployed code shares an income among five members without creating or losing a wei.
/// @dev Income has 16 bits here. The tests of `testFuzz_shareIncome_losesNothing` take any amount.
contract IncomeSymbolic {
    uint256 private constant TOLERANCE_BPS = 100;

    IDataset private dataset;
    address[] private members;

    function setUp() public {
        for (uint160 i = 1; i <= 5; ++i) {
            members.push(address(0xA000 + i));
        }
        DatasetSettings memory settings = DatasetSettings({
            owner: address(0xA11CE),
            keyForm: KeyForm.SPOT_PRICE,
            maxRoundAge: 300,
            priceCeiling: 1 ether,
            queryPrice: 0.001 ether,
            subscriptionPriceCeiling: 1 ether,
            subscriptionPrice: 0.1 ether,
            toleranceBps: TOLERANCE_BPS,
            members: members
        });
        dataset = IDataset(Deployed.create("MedianDataset", abi.encode(settings)));
    }

    function check_shareIncome_addsUp(uint16 income) external {
        _share(income);
        assert(_paid() + address(dataset).balance == income);
    }

    /// What is left is still the committee's.
    function check_shareIncome_keepsTheRemainder(uint16 income) external {
        _share(income);
        assert(dataset.unsharedIncomeOf(dataset.committeeHash()) == address(dataset).balance);
    }

    function check_shareIncome_paysEachTheSame(uint16 income) external {
        _share(income);
        for (uint256 i = 1; i < members.length; ++i) {
            assert(members[i].balance == members[0].balance);
        }
    }

    function refute_shareIncome_leavesNothing(uint16 income) external {
        _share(income);
        assert(_paid() == income);
    }

    function refute_shareIncome_keepsNoRemainder(uint16 income) external {
        _share(income);
        assert(dataset.unsharedIncomeOf(dataset.committeeHash()) == 0);
    }

    function refute_shareIncome_paysEachSomething(uint16 income) external {
        _share(income);
        assert(members[0].balance > 0);
    }

    function _share(uint256 income) private {
        vm.deal(address(dataset), income);
        dataset.shareIncome(members, TOLERANCE_BPS);
    }

    function _paid() private view returns (uint256 paid) {
        for (uint256 i = 0; i < members.length; ++i) {
            paid += members[i].balance;
        }
    }
}
