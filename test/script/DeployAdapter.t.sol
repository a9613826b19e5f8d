// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DeployFinancialDataset} from "../../script/DeployFinancialDataset.s.sol";
import {DeployWebOracle} from "../../script/DeployWebOracle.s.sol";
import {DeployAdapter} from "../../script/DeployAdapter.s.sol";
import {AggregatorV3Interface} from "../adapters/ExternalInterfaces.sol";
import {Token} from "../adapters/AdapterFixture.sol";
import {ScriptFixture} from "./ScriptFixture.sol";

contract DeployAdapterTest is ScriptFixture {
    string private constant KEY = "SPOTPX/ETH-USD";
    string private constant WEB_KEY = "WEB/1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f/A-1";
    string private constant CURRENCY = "0x0000000000000000000000000000000000000348";
    string private constant ETHER = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";

    DeployAdapter private script;
    string private token;

    function prepare(bytes4 selector) public override {
        super.prepare(selector);
        run(new DeployFinancialDataset());
        run(new DeployWebOracle());
        token = vm.toString(address(new Token(6)));
        script = new DeployAdapter();
        prepared(script);
    }

    function test_chainlink_deploysAnAdapterOfItsKey() public {
        script.give("KEY", KEY);
        AggregatorV3Interface feed = AggregatorV3Interface(_deploy(DeployAdapter.chainlink.selector));
        assertEq(feed.description(), KEY);
        assertEq(feed.decimals(), 8);
        script.give("DECIMALS", "6");
        assertEq(AggregatorV3Interface(_deploy(DeployAdapter.chainlink.selector)).decimals(), 6);
    }

    function test_chainlink_warnsThatAWebOraclesValuesNeed18Decimals() public {
        script.give("DATASET", "webOracleNumber");
        script.give("KEY", WEB_KEY);
        _deploy(DeployAdapter.chainlink.selector);
        assertEq(
            script.warnings()[0], "adapters read numbers with 18 decimals. Use only keys whose spec has decimals 18."
        );
    }

    function test_pyth_deploysAnAdapterWithItsExponent() public {
        assertEq(IPythSettings(_deploy(DeployAdapter.pyth.selector)).expo(), -8);
        script.give("EXPONENT", "-6");
        script.give("CONFIDENCE_BPS", "200");
        IPythSettings pyth = IPythSettings(_deploy(DeployAdapter.pyth.selector));
        assertEq(pyth.expo(), -6);
        assertEq(pyth.confidenceBps(), 200);
    }

    function test_quotesAndMorpho_deployAdaptersOfTheirAssets() public {
        _setAssets(string.concat(CURRENCY, ", ", token, ",", ETHER), string.concat(",", KEY, ",", KEY));
        address quotes = _deploy(DeployAdapter.quotes.selector);
        assertEq(IQuoteSettings(quotes).maxAge(), 600);
        script.give("QUOTES", vm.toString(quotes));
        script.give("COLLATERAL", token);
        script.give("LOAN", CURRENCY);
        assertEq(IMorphoSettings(_deploy(DeployAdapter.morpho.selector)).quotes(), quotes);

        string memory refusal = "QUOTES does not quote COLLATERAL in LOAN. Name a QuoteAdapter that lists both tokens.";
        script.give("LOAN", vm.toString(address(outsider)));
        _refuses(DeployAdapter.morpho.selector, refusal);
        script.give("LOAN", CURRENCY);
        script.give("QUOTES", vm.toString(address(deployedDataset("financial"))));
        _refuses(DeployAdapter.morpho.selector, refusal);
        script.give("QUOTES", CURRENCY);
        _refuses(DeployAdapter.morpho.selector, "QUOTES has no code. Deploy a QuoteAdapter first.");
    }

    function test_quotes_RevertWhen_itsAssetsAreWrong() public {
        _setAssets(string.concat(CURRENCY, ",", token), KEY);
        _refuses(DeployAdapter.quotes.selector, "ASSETS and KEYS differ in number. Give each asset one key.");
        string memory mistyped = vm.toString(address(0x5afe000000000000000000000000000000000003));
        _setAssets(string.concat(CURRENCY, ",", mistyped), string.concat(",", KEY));
        string memory problem = ", which has no code on this network. Name the token's address on it.";
        _refuses(DeployAdapter.quotes.selector, string.concat("ASSETS has ", mistyped, problem));
        script.give("MAX_AGE", "0");
        _refuses(
            DeployAdapter.quotes.selector,
            "MAX_AGE is 0: a price would be too old one second after its round. Raise it."
        );
    }

    /// The file may call a dataset of bytes by another's name.
    function test_chainlink_RevertWhen_theDatasetStoresBytes() public {
        vm.writeJson(
            vm.toString(address(deployedDataset("webOracleBytes"))), deploymentFile, ".datasets.webOracleNumber.address"
        );
        script.give("DATASET", "webOracleNumber");
        script.give("KEY", WEB_KEY);
        string memory problem = "webOracleNumber stores bytes, and this adapter reads numbers.";
        _refuses(DeployAdapter.chainlink.selector, string.concat(problem, " Set DATASET to a median dataset."));
    }

    function test_deploy_RevertWhen_aVariableIsMissingOrWrong() public {
        bytes4 chainlink = DeployAdapter.chainlink.selector;
        _refuses(chainlink, "KEY is not set. Set it to the key that the adapter reads, for example SPOTPX/ETH-USD.");
        script.give("KEY", "ETH-USD");
        _refuses(chainlink, "ETH-USD is not a key of the dataset. Price keys are like SPOTPX/ETH-USD.");
        script.give("KEY", KEY);
        script.give("DECIMALS", "300");
        _refuses(chainlink, "DECIMALS is 300, but values have 18 decimals. Set it to 0 to 18.");
        // An unreadable number is never taken for the default.
        script.give("DECIMALS", "18.0");
        _refuses(chainlink, "DECIMALS is 18.0, which is not a whole number. Correct it.");
        script.give("EXPONENT", "-6x");
        _refuses(DeployAdapter.pyth.selector, "EXPONENT is -6x, which is not a whole number. Correct it.");
        _refuses(
            DeployAdapter.quotes.selector, "ASSETS is not set. Set it to the assets' addresses, separated by commas."
        );
        _refuses(DeployAdapter.morpho.selector, "QUOTES is not set. Set it to the address of a QuoteAdapter.");
    }

    // ---------------------------------------------------------------- helpers

    function _setAssets(string memory assets, string memory keys) private {
        script.give("ASSETS", assets);
        script.give("KEYS", keys);
        script.give("MAX_AGE", "600");
    }

    /// @dev Anyone may deploy an adapter.
    function _deploy(bytes4 call) private returns (address adapter) {
        adapter = vm.computeCreateAddress(tx.origin, vm.getNonce(tx.origin));
        outsider.run(address(script), bytes.concat(call));
        assertGt(adapter.code.length, 0);
    }

    function _refuses(bytes4 call, string memory sentence) private {
        vm.expectRevert(bytes(sentence));
        outsider.run(address(script), bytes.concat(call));
    }
}

interface IPythSettings {
    function expo() external view returns (int32);
    function confidenceBps() external view returns (uint256);
}

interface IQuoteSettings {
    function maxAge() external view returns (uint256);
}

interface IMorphoSettings {
    function quotes() external view returns (address);
}
