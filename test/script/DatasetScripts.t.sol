// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {VmSafe} from "forge-std/Vm.sol";

import {AcceptOwnership} from "../../script/AcceptOwnership.s.sol";
import {DeployFinancialDataset} from "../../script/DeployFinancialDataset.s.sol";
import {RotateCommittee} from "../../script/RotateCommittee.s.sol";
import {SetQueryPrice} from "../../script/SetQueryPrice.s.sol";
import {SetSubscriptionPrice} from "../../script/SetSubscriptionPrice.s.sol";
import {ShareIncome} from "../../script/ShareIncome.s.sol";
import {Subscribe} from "../../script/Subscribe.s.sol";
import {TransferOwnership} from "../../script/TransferOwnership.s.sol";
import {NetworkScript} from "../../script/base/NetworkScript.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {ScriptFixture} from "./ScriptFixture.sol";

contract DatasetScriptsTest is ScriptFixture {
    string private constant OTHER_COMMITTEE =
        "CURRENT_MEMBERS and CURRENT_TOLERANCE_BPS are not the dataset's committee. Correct or unset both.";

    IDataset private dataset;
    Ownable2Step private ownable;
    address private reader = makeAddr("reader");

    function prepare(bytes4 selector) public override {
        super.prepare(selector);
        run(new DeployFinancialDataset());
        dataset = deployedDataset("financial");
        ownable = Ownable2Step(address(dataset));
        vm.deal(address(owner), 100 ether);
        vm.deal(address(outsider), 100 ether);
    }

    // ---------------------------------------------------------------- every operation

    function test_run_RevertWhen_noDeployedDatasetIsNamed() public {
        SetQueryPrice script = new SetQueryPrice();
        prepared(script);
        script.give("DATASET", "");
        vm.expectRevert("DATASET is not set. Set it to the dataset's name, for example financial.");
        script.run();
        script.give("DATASET", "webOracleBytes");
        vm.expectRevert(bytes(_notDeployed("webOracleBytes")));
        script.run();
        vm.etch(address(dataset), "");
        refuses(script, _notDeployed("financial"));
    }

    function test_run_RevertWhen_theDeploymentsAreOfAnotherNetwork() public {
        vm.writeJson("1", deploymentFile, ".chainId");
        refuses(
            new ShareIncome(),
            string.concat(deploymentFile, " is for chain 1, but the RPC is on chain 42. Correct one of them.")
        );
    }

    function test_run_RevertWhen_someoneElseThanTheOwnerSigns() public {
        configure("financial.queryPrice", '"7"');
        configure("financial.subscriptionPrice", '"7"');
        configure("financial.toleranceBps", '"7"');
        configure("financial.owner", vm.toString(reader));
        vm.etch(address(owner), "");
        RotateCommittee rotation = new RotateCommittee();
        _giveCommittee(rotation);
        NetworkScript[4] memory scripts =
            [NetworkScript(new SetQueryPrice()), new SetSubscriptionPrice(), rotation, new TransferOwnership()];
        for (uint256 i = 0; i < scripts.length; ++i) {
            string memory owner_ = vm.toString(address(owner));
            refusesFor(
                outsider, scripts[i], string.concat("The owner is ", owner_, ", not the sender. Sign with its key.")
            );
        }
    }

    // ---------------------------------------------------------------- prices

    function test_setQueryPrice_setsThePriceOfTheSettingsOnce() public {
        SetQueryPrice script = new SetQueryPrice();
        configure("financial.queryPrice", '"999999999999999"');
        run(script);
        assertEq(script.warnings().length, 0);
        configure("financial.queryPrice", '"2000000000000000"');
        run(script);
        assertEq(
            script.warnings()[0],
            "above 0.001 Ether, contracts that use the helpers with their default maximum revert with PriceTooHigh."
        );
        assertEq(dataset.queryPrice(), 0.002 ether);
        _changesNothing(new SetQueryPrice());
        configure("financial.queryPrice", '"10000000000000001"');
        refuses(new SetQueryPrice(), _aboveCeiling("queryPrice", "10000000000000000"));
    }

    function test_setSubscriptionPrice_setsThePriceOfTheSettingsOnce() public {
        configure("financial.subscriptionPrice", '"200000000000000000"');
        run(new SetSubscriptionPrice());
        (uint256 price,,) = dataset.costOfSubscription();
        assertEq(price, 0.2 ether);
        _changesNothing(new SetSubscriptionPrice());
        configure("financial.subscriptionPrice", '"1000000000000000001"');
        refuses(new SetSubscriptionPrice(), _aboveCeiling("subscriptionPrice", "1000000000000000000"));
    }

    // ---------------------------------------------------------------- subscriptions

    function testFuzz_subscribe_paysForThePeriodsThatAreMissing(uint256 first, uint256 second) public {
        (first, second) = (bound(first, 1, 1500), bound(second, 1, 1500));
        runAs(outsider, _subscription(vm.toString(first)));
        uint256 periods = (first + 29) / 30;
        assertEq(dataset.subscribedUntil(reader), START + periods * 30 days);
        runAs(owner, _subscription(vm.toString(second)));
        if (second > first) periods = second <= 30 * periods ? periods : (second + 29) / 30;
        assertEq(dataset.subscribedUntil(reader), START + periods * 30 days);
        assertEq(address(dataset).balance, periods * 0.1 ether);
    }

    function test_subscribe_RevertWhen_aVariableIsMissingOrUnreadable() public {
        refuses(_subscription(""), "DAYS is not set. Set it to the number of days from now.");
        refuses(_subscription("1.5"), "DAYS is 1.5, which is not a whole number. Correct it.");
        Subscribe script = _subscription("1");
        script.give("READER", "");
        refuses(script, "READER is not set. Set it to the address that reads, for example an adapter's.");
        script.give("READER", "0x12");
        refuses(script, "READER is 0x12, which is not an address. Correct it.");
    }

    // ---------------------------------------------------------------- income

    function test_shareIncome_takesTheCommitteeAsGivenWhereThereAreNoLogs() public {
        vm.deal(address(dataset), 4 ether);
        refuses(
            new ShareIncome(),
            string.concat(
                "The RPC does not have the event of the current committee in block ",
                vm.toString(block.number),
                ". Use one that keeps old logs, or set CURRENT_MEMBERS and CURRENT_TOLERANCE_BPS."
            )
        );
        ShareIncome script = new ShareIncome();
        _giveCommittee(script);
        script.give("CURRENT_TOLERANCE_BPS", "99");
        refuses(script, OTHER_COMMITTEE);
        _giveCommittee(script);
        script.give("CURRENT_MEMBERS", vm.toString(members[0]));
        refuses(script, OTHER_COMMITTEE);
        _giveCommittee(script);
        run(script);
        _assertMembersHave(1 ether);
    }

    function test_shareIncome_paysAFormerCommitteeItsOwn() public {
        vm.deal(address(dataset), 4 ether);
        address[] memory next = new address[](1);
        next[0] = reader;
        vm.prank(address(owner));
        dataset.setCommittee(next, 100);
        vm.deal(address(dataset), 5 ether);
        ShareIncome script = new ShareIncome();
        script.give("FORMER_MEMBERS", _listed(members));
        refuses(script, "FORMER_TOLERANCE_BPS is not set. Set it to the tolerance of FORMER_MEMBERS, in basis points.");
        script.give("FORMER_TOLERANCE_BPS", "100");
        run(script);
        _assertMembersHave(1 ether);
        assertEq(address(dataset).balance, 1 ether);
        _changesNothing(script);
    }

    // ---------------------------------------------------------------- rotation

    function test_rotateCommittee_sharesTheIncomeThenInstallsAndListsTheNewOne() public {
        vm.deal(address(dataset), 4 ether);
        address[] memory next = _rotated();
        RotateCommittee script = new RotateCommittee();
        _giveCommittee(script);
        run(script);
        assertEq(script.warnings()[0], "the RPC has no old logs, so members that were ejected are not recognized.");
        _assertMembersHave(1 ether);
        assertEq(dataset.committeeHash(), keccak256(abi.encodePacked(uint256(50), next)));
        _assertListed(next, 50);
        _changesNothing(new RotateCommittee());
    }

    function test_rotateCommittee_RevertWhen_aMemberThatWasEjectedWouldBeSeatedAgain() public {
        _rotated();
        string memory problem =
            " was ejected because it signed two conflicting statements. Remove it from financial.members in ";
        refuses(
            new RotateCommitteeWithLogs(members[2]), string.concat(vm.toString(members[2]), problem, settingsFile, ".")
        );
    }

    function test_rotateCommittee_listsACommitteeThatTheFileDoesNotHave() public {
        string memory before = deployments();
        vm.writeJson("[]", deploymentFile, ".datasets.financial.members");
        vm.writeJson("0", deploymentFile, ".datasets.financial.toleranceBps");
        run(new RotateCommittee());
        assertEq(deployments(), before);
    }

    /// A multisig makes the calls later, or never: the file lists the new committee only then.
    function test_rotateCommittee_listsNothingUntilAnOwnerThatIsAContractHasMadeTheCalls() public {
        string memory before = deployments();
        address[] memory next = _rotated();
        RotateCommittee script = new RotateCommittee();
        _giveCommittee(script);
        runAs(outsider, script);
        assertEq(deployments(), before);
        // The script has simulated the calls.
        runAs(outsider, new RotateCommittee());
        _assertListed(next, 50);
    }

    // ---------------------------------------------------------------- ownership

    function test_transferOwnership_takesTwoStepsEachOfThemOnce() public {
        configure("financial.owner", vm.toString(address(outsider)));
        string memory next = vm.toString(address(outsider));
        string memory problem =
            string.concat(": financial.owner is ", next, ", to which the ownership was not offered.");
        refusesFor(
            outsider, new AcceptOwnership(), string.concat(settingsFile, problem, " Run TransferOwnership first.")
        );
        run(new TransferOwnership());
        assertEq(ownable.pendingOwner(), address(outsider));
        assertEq(ownable.owner(), address(owner));
        _changesNothing(new TransferOwnership());
        vm.etch(address(outsider), "");
        refuses(new AcceptOwnership(), string.concat("The new owner is ", next, ", not the sender. Sign with its key."));
        vm.etch(address(outsider), address(owner).code);
        runAs(outsider, new AcceptOwnership());
        assertEq(ownable.owner(), address(outsider));
        _changesNothing(new AcceptOwnership());
        _changesNothing(new TransferOwnership());
    }

    function test_transferOwnership_withdrawsAnOfferWhenTheSettingsNameTheOwnerAgain() public {
        configure("financial.owner", vm.toString(reader));
        run(new TransferOwnership());
        configure("financial.owner", vm.toString(address(owner)));
        run(new TransferOwnership());
        assertEq(ownable.pendingOwner(), address(0));
    }

    // ---------------------------------------------------------------- helpers

    /// @dev Asserts that a script neither calls the dataset's state nor writes the file.
    function _changesNothing(NetworkScript script) private {
        string memory before = deployments();
        vm.recordLogs();
        runAs(owner, script);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(deployments(), before);
    }

    function _subscription(string memory days_) private returns (Subscribe script) {
        script = new Subscribe();
        script.give("READER", vm.toString(reader));
        script.give("DAYS", days_);
    }

    /// @dev Has the settings name a member for another one, and another tolerance.
    function _rotated() private returns (address[] memory next) {
        next = new address[](4);
        (next[0], next[1], next[2], next[3]) = (address(0x11), members[1], members[2], members[3]);
        configure("financial.members", next);
        configure("financial.toleranceBps", '"50"');
    }

    function _giveCommittee(NetworkScript script) private {
        script.give("CURRENT_MEMBERS", _listed(members));
        script.give("CURRENT_TOLERANCE_BPS", "100");
    }

    function _listed(address[] memory accounts) private pure returns (string memory list) {
        for (uint256 i = 0; i < accounts.length; ++i) {
            list = string.concat(list, i == 0 ? "" : ", ", vm.toString(accounts[i]));
        }
    }

    function _assertMembersHave(uint256 balance) private view {
        for (uint256 i = 0; i < members.length; ++i) {
            assertEq(members[i].balance, balance);
        }
    }

    function _assertListed(address[] memory committee, uint256 toleranceBps) private view {
        assertEq(vm.parseJsonAddressArray(deployments(), ".datasets.financial.members"), committee);
        assertEq(vm.parseJsonUint(deployments(), ".datasets.financial.toleranceBps"), toleranceBps);
    }

    function _notDeployed(string memory name) private view returns (string memory) {
        return string.concat(
            deploymentFile,
            " has no deployed dataset ",
            name,
            ". Correct DATASET, deploy it, or set DEPLOYMENTS_DIR to the folder that has it."
        );
    }

    function _aboveCeiling(string memory field, string memory ceiling) private view returns (string memory) {
        string memory problem = string.concat(" is above the dataset's ceiling of ", ceiling, " wei. Lower it.");
        return string.concat(settingsFile, ": financial.", field, problem);
    }
}

/// @dev Finds logs, for which it would ask an RPC.
contract RotateCommitteeWithLogs is RotateCommittee {
    address private immutable ejected;

    constructor(address ejected_) {
        ejected = ejected_;
    }

    function _logsOfCommitteeBlock(bytes32 selector)
        internal
        view
        override
        returns (bool, VmSafe.EthGetLogs[] memory logs)
    {
        logs = new VmSafe.EthGetLogs[](1);
        logs[0].topics = new bytes32[](2);
        (logs[0].topics[0], logs[0].topics[1]) = (selector, bytes32(uint256(uint160(ejected))));
        return (true, logs);
    }
}
