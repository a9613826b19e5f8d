// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {DeployCommitteeDirectory} from "../../script/DeployCommitteeDirectory.s.sol";
import {DeployFinancialDataset} from "../../script/DeployFinancialDataset.s.sol";
import {DeployVerifiedLens} from "../../script/DeployVerifiedLens.s.sol";
import {DeployWebOracle} from "../../script/DeployWebOracle.s.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {KeyForm} from "../../src/types/KeyForm.sol";
import {ScriptFixture} from "./ScriptFixture.sol";

contract DeployScriptsTest is ScriptFixture {
    /// @dev The addresses on every network that has the deterministic deployment proxy: script/README.md states them.
    address private constant REGISTRY = 0x287ffbEA4238228c0F67fd87cEBDaE0F5760967d;
    address private constant DIRECTORY = 0xB5A3e1328d65d3E78c9Fb2C4aA359aB9547d9e97;

    function test_deployFinancialDataset_deploysItsSettingsAndListsThem() public {
        configure("financial.priceCeiling", '"0.01 ether"');
        run(new DeployFinancialDataset());
        assertEq(vm.parseJsonUint(deployments(), ".chainId"), CHAIN_ID);
        _assertAsSet("financial", IDataset.Judgement.MEDIAN, KeyForm.SPOT_PRICE);
        assertEq(deployedDataset("financial").priceCeiling(), 0.01 ether);
    }

    function test_deployWebOracle_addsItsDatasetsAndTheRegistry() public {
        run(new DeployFinancialDataset());
        IDataset financial = deployedDataset("financial");
        run(new DeployWebOracle());
        assertEq(address(deployedDataset("financial")), address(financial));
        _assertAsSet("webOracleNumber", IDataset.Judgement.MEDIAN, KeyForm.WEB_ORACLE);
        _assertAsSet("webOracleBytes", IDataset.Judgement.MAJORITY, KeyForm.WEB_ORACLE);
        assertEq(deployed("webOracleRegistry"), REGISTRY);
        assertGt(REGISTRY.code.length, 0);
    }

    function test_deployCommitteeDirectory_deploysAtItsFixedAddressOrRecordsIt() public {
        run(new DeployCommitteeDirectory());
        assertEq(deployed("committeeDirectory"), DIRECTORY);
        assertGt(DIRECTORY.code.length, 0);
        vm.removeFile(deploymentFile);
        run(new DeployCommitteeDirectory());
        assertEq(deployed("committeeDirectory"), DIRECTORY);
    }

    function test_deployCommitteeDirectory_deploysAnywhereWithoutTheProxy() public {
        vm.etch(CREATE2_FACTORY, "");
        run(new DeployCommitteeDirectory());
        assertGt(deployed("committeeDirectory").code.length, 0);
        assertNotEq(deployed("committeeDirectory"), DIRECTORY);
    }

    function test_deployVerifiedLens_deploysOneForItsGateways() public {
        refuses(
            new DeployVerifiedLens(),
            "GATEWAYS is not set. Set it to the URLs of the operators' gateways, separated by commas: script/README.md has an example."
        );
        _deployLens("https://one.example/{sender}/{data}, https://two.example");
        IGateways lens = IGateways(deployed("verifiedLens"));
        assertEq(lens.gateways().length, 2);
        assertEq(lens.gateways()[0], "https://one.example/{sender}/{data}");
        assertEq(lens.gateways()[1], "https://two.example");

        _deployLens("https://one.example/{sender}/{data},https://two.example");
        assertEq(deployed("verifiedLens"), address(lens));
        DeployVerifiedLens other = new DeployVerifiedLens();
        other.give("GATEWAYS", "https://two.example");
        refuses(
            other,
            string.concat(
                deploymentFile, ": verifiedLens has other gateways. Remove it to deploy one with those of GATEWAYS."
            )
        );
    }

    function test_deploy_changesNothingTheSecondTime() public {
        _deployAll();
        string memory before = deployments();
        _deployAll();
        assertEq(deployments(), before);
    }

    function test_deploy_changesTheListOfKeysAndNothingOnChain() public {
        run(new DeployFinancialDataset());
        IDataset dataset = deployedDataset("financial");
        configure("financial.keys", '["SPOTPX/PEPE-USD","SPOTPX/BTC-USD"]');
        run(new DeployFinancialDataset());
        assertEq(address(deployedDataset("financial")), address(dataset));
        _assertAsSet("financial", IDataset.Judgement.MEDIAN, KeyForm.SPOT_PRICE);
        configure("financial.keys", '["SPOTPX/pepe-USD"]');
        _refusesSettings('financial.keys has "SPOTPX/pepe-USD", which does not have the key form. Correct it.');
    }

    /// The file is written before the transactions are sent, and they may never be mined.
    function test_deploy_deploysWhatIsInTheFileButNotOnChain() public {
        _deployAll();
        string memory before = deployments();
        string memory nowhere = '"0x00000000000000000000000000000000000000AA"';
        vm.writeJson(nowhere, deploymentFile, ".webOracleRegistry");
        vm.writeJson(nowhere, deploymentFile, ".datasets.webOracleNumber.address");
        run(new DeployWebOracle());
        address dataset = address(deployedDataset("webOracleNumber"));
        _assertAsSet("webOracleNumber", IDataset.Judgement.MEDIAN, KeyForm.WEB_ORACLE);
        string memory first = vm.parseJsonString(before, ".datasets.webOracleNumber.address");
        assertEq(deployments(), vm.replace(before, first, vm.toString(dataset)));
    }

    /// The earlier run expected to create its second contract with the nonce that this one uses for its first.
    function test_deploy_takesNoContractOfItsOwnForTheOneInTheFile() public {
        _deployAll();
        uint64 nonce = vm.getNonce(tx.origin);
        _relocate("webOracleNumber", vm.computeCreateAddress(tx.origin, nonce + 100));
        _relocate("webOracleBytes", vm.computeCreateAddress(tx.origin, nonce));
        run(new DeployWebOracle());
        _assertAsSet("webOracleNumber", IDataset.Judgement.MEDIAN, KeyForm.WEB_ORACLE);
        _assertAsSet("webOracleBytes", IDataset.Judgement.MAJORITY, KeyForm.WEB_ORACLE);
    }

    function test_deploy_RevertWhen_anotherContractIsInTheDatasetsPlace() public {
        _deployAll();
        (IDataset financial, IDataset numbers, IDataset words) =
            (deployedDataset("financial"), deployedDataset("webOracleNumber"), deployedDataset("webOracleBytes"));
        string memory problem = " has another kind or key form. Correct its address.";
        _relocate("financial", address(numbers));
        refuses(new DeployFinancialDataset(), string.concat(deploymentFile, ": financial", problem));
        _relocate("webOracleNumber", address(words));
        refuses(new DeployWebOracle(), string.concat(deploymentFile, ": webOracleNumber", problem));
        _relocate("webOracleNumber", address(financial));
        refuses(new DeployWebOracle(), string.concat(deploymentFile, ": webOracleNumber", problem));
    }

    function test_deploy_RevertWhen_aSettingIsInvalid() public {
        string memory zero = '"0x0000000000000000000000000000000000000000"';
        string memory one = '"0x0000000000000000000000000000000000000011"';
        _refusesSetting("owner", zero, "owner is the zero address. Fill it in.");
        _refusesSetting(
            "members",
            string.concat("[", one, ",", one, "]"),
            "members has 0x0000000000000000000000000000000000000011 after 0x0000000000000000000000000000000000000011. Sort them ascending, each one once."
        );
        _refusesSetting("toleranceBps", '"10001"', "toleranceBps is over 10000, which is 100 %.");
        _refusesSetting("maxRoundAge", '"0"', "maxRoundAge is 0: no round could be stored. Raise it.");
        _refusesSetting(
            "subscriptionPrice",
            '"1000000000000000001"',
            "subscriptionPrice is above subscriptionPriceCeiling. Lower it."
        );
        _refusesSetting("keys", '["ETH-USD"]', 'keys has "ETH-USD", which does not have the key form. Correct it.');
    }

    /// Nothing is deployed of several contracts if a setting of one is invalid.
    function test_deployWebOracle_RevertWhen_aSettingOfItsSecondDatasetIsInvalid() public {
        configure("webOracleBytes.maxRoundAge", '"0"');
        refuses(
            new DeployWebOracle(),
            string.concat(settingsFile, ": webOracleBytes.maxRoundAge is 0: no round could be stored. Raise it.")
        );
    }

    function test_deploy_RevertWhen_theSettingsAreIncompleteOrOfAnotherNetwork() public {
        configure("chainId", "1");
        refuses(
            new DeployFinancialDataset(),
            string.concat(settingsFile, " is for chain 1, but the RPC is on chain 42. Correct one of them.")
        );
        vm.writeFile(settingsFile, '{"chainId":42}');
        _refusesSettings("financial.owner is missing. Add it.");
        vm.writeFile(settingsFile, "{}");
        _refusesSettings("chainId is missing. Add it.");
        vm.removeFile(settingsFile);
        refuses(
            new DeployFinancialDataset(),
            string.concat(
                settingsFile, " does not exist. Copy another network's file and fill it in, or set DEPLOY_CONFIG."
            )
        );
    }

    // ---------------------------------------------------------------- helpers

    function _deployAll() private {
        run(new DeployFinancialDataset());
        run(new DeployWebOracle());
        run(new DeployCommitteeDirectory());
    }

    function _deployLens(string memory gateways) private {
        DeployVerifiedLens script = new DeployVerifiedLens();
        script.give("GATEWAYS", gateways);
        run(script);
    }

    function _relocate(string memory name, address place) private {
        vm.writeJson(vm.toString(place), deploymentFile, string.concat(".datasets.", name, ".address"));
    }

    function _refusesSetting(string memory field, string memory value, string memory problem) private {
        string memory before = vm.readFile(settingsFile);
        configure(string.concat("financial.", field), value);
        _refusesSettings(string.concat("financial.", problem));
        vm.writeFile(settingsFile, before);
    }

    function _refusesSettings(string memory problem) private {
        refuses(new DeployFinancialDataset(), string.concat(settingsFile, ": ", problem));
    }

    /// @dev Asserts that a dataset on chain and its entry in the file match its settings.
    function _assertAsSet(string memory name, IDataset.Judgement judgement, KeyForm keyForm) private view {
        IDataset dataset = deployedDataset(name);
        string memory settings = vm.readFile(settingsFile);
        string memory set = string.concat(".", name);
        address[] memory committee = vm.parseJsonAddressArray(settings, string.concat(set, ".members"));
        uint256 toleranceBps = vm.parseJsonUint(settings, string.concat(set, ".toleranceBps"));
        (uint256 subscription, uint256 period, uint256 ceiling) = dataset.costOfSubscription();
        assertEq(Ownable(address(dataset)).owner(), vm.parseJsonAddress(settings, string.concat(set, ".owner")));
        assertEq(dataset.queryPrice(), vm.parseJsonUint(settings, string.concat(set, ".queryPrice")));
        assertEq(dataset.priceCeiling(), vm.parseJsonUint(settings, string.concat(set, ".priceCeiling")));
        assertEq(subscription, vm.parseJsonUint(settings, string.concat(set, ".subscriptionPrice")));
        assertEq(ceiling, vm.parseJsonUint(settings, string.concat(set, ".subscriptionPriceCeiling")));
        assertEq(period, 30 days);
        assertEq(dataset.maxRoundAge(), vm.parseJsonUint(settings, string.concat(set, ".maxRoundAge")));
        assertEq(dataset.committeeHash(), keccak256(abi.encodePacked(toleranceBps, committee)));
        assertTrue(dataset.judgement() == judgement && dataset.keyForm() == keyForm);

        string memory listed = string.concat(".datasets", set);
        bool isMedian = judgement == IDataset.Judgement.MEDIAN;
        string memory kind = vm.parseJsonString(deployments(), string.concat(listed, ".kind"));
        assertEq(kind, isMedian ? "median" : "majority");
        string memory form = vm.parseJsonString(deployments(), string.concat(listed, ".keyForm"));
        assertEq(form, keyForm == KeyForm.SPOT_PRICE ? "SPOT_PRICE" : "WEB_ORACLE");
        assertEq(
            abi.encode(vm.parseJsonStringArray(deployments(), string.concat(listed, ".keys"))),
            abi.encode(vm.parseJsonStringArray(settings, string.concat(set, ".keys")))
        );
        assertEq(vm.parseJsonAddressArray(deployments(), string.concat(listed, ".members")), committee);
        assertEq(vm.parseJsonUint(deployments(), string.concat(listed, ".toleranceBps")), toleranceBps);
    }
}

interface IGateways {
    function gateways() external view returns (string[] memory);
}
