// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {Deployed, vm} from "./Deployed.sol";

/// @notice The deployed code shares any income of a committee without creating or losing a wei.
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

    function check_shareIncome_addsUp(uint48 income) external {
        _share(income);
        uint256 paid = _paid();
        assert(paid + address(dataset).balance == income);
        // What is left is still the committee's, and too little for another share.
        assert(dataset.unsharedIncomeOf(dataset.committeeHash()) == address(dataset).balance);
        assert(address(dataset).balance < members.length);
    }

    function check_shareIncome_paysEachTheSame(uint48 income) external {
        _share(income);
        for (uint256 i = 1; i < members.length; ++i) {
            assert(members[i].balance == members[0].balance);
        }
    }

    function refute_shareIncome_leavesNothing(uint48 income) external {
        _share(income);
        assert(_paid() == income);
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
