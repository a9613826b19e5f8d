// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {console} from "forge-std/Script.sol";

import {IDataset} from "../src/interfaces/IDataset.sol";
import {KeyForm, KeyFormLibrary} from "../src/types/KeyForm.sol";
import {DatasetScript} from "./base/DatasetScript.sol";

/// @dev The part of `QuoteAdapter` that is called here. The contract is not imported, so that it is not compiled with the
/// script.
interface IQuoteAdapter {
    error OracleUnsupportedPair(address base, address quote);

    function getQuote(uint256 baseAmount, address base, address quote) external view returns (uint256);
}

/// @notice Deploys an adapter of DATASET: with `--sig "chainlink()"`, `"pyth()"`, `"quotes()"` or `"morpho()"`.
/// Anyone may run it. While queries are charged, the adapter answers after Subscribe.s.sol has paid for its address.
contract DeployAdapter is DatasetScript {
    /// @dev The same as `QuoteAdapter.Asset`.
    struct Asset {
        address asset;
        bytes key;
    }

    /// @dev The largest ISO 4217 number, which stands for a currency, and the address that stands for Ether (ERC-7528).
    uint160 private constant MAX_CURRENCY = 999;
    address private constant ETHER = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    /// @dev Marks the adapters that answer with numbers.
    modifier ofNumbers() {
        require(
            dataset.judgement() == IDataset.Judgement.MEDIAN,
            string.concat(name, " stores bytes, and this adapter reads numbers. Set DATASET to a median dataset.")
        );
        if (dataset.keyForm() == KeyForm.WEB_ORACLE) {
            _warn("adapters read numbers with 18 decimals. Use only keys whose spec has decimals 18.");
        }
        _;
    }

    /// @notice Deploys a ChainlinkAdapter of KEY, with DECIMALS.
    function chainlink() external checked ofNumbers {
        _requireSet("KEY", "the key that the adapter reads, for example SPOTPX/ETH-USD");
        string memory key = _variable("KEY");
        _checkKey(key);
        uint256 decimals = _isSet("DECIMALS") ? _uintVariable("DECIMALS") : 8;
        require(
            decimals <= 18,
            string.concat("DECIMALS is ", vm.toString(decimals), ", but values have 18 decimals. Set it to 0 to 18.")
        );
        _logAdapter("ChainlinkAdapter");
        console.log("  key %s", key);
        console.log("  decimals %s", decimals);
        _deploy("ChainlinkAdapter", abi.encode(dataset, key, decimals));
    }

    /// @notice Deploys a PythAdapter with EXPONENT and CONFIDENCE_BPS. Keys are listed afterwards, with its `list`.
    function pyth() external checked ofNumbers {
        int256 exponent = _isSet("EXPONENT") ? _intVariable("EXPONENT") : -8;
        uint256 confidenceBps = _isSet("CONFIDENCE_BPS") ? _uintVariable("CONFIDENCE_BPS") : 100;
        _logAdapter("PythAdapter");
        console.log("  exponent %s", vm.toString(exponent));
        console.log("  confidence %s basis points", confidenceBps);
        _deploy("PythAdapter", abi.encode(dataset, exponent, confidenceBps));
    }

    /// @notice Deploys a QuoteAdapter of ASSETS, whose prices are under KEYS in the same order, and at most MAX_AGE
    /// seconds old. An asset whose key is empty is the common quote.
    function quotes() external checked ofNumbers {
        _requireSet("ASSETS", "the assets' addresses, separated by commas");
        _requireSet("KEYS", "the keys of the assets' prices, separated by commas");
        _requireSet("MAX_AGE", "the maximum age of a price, in seconds");
        uint256 maxAge = _uintVariable("MAX_AGE");
        require(maxAge > 0, "MAX_AGE is 0: a price would be too old one second after its round. Raise it.");
        address[] memory addresses = _addressVariables("ASSETS");
        string[] memory keys = vm.split(_variable("KEYS"), ",");
        require(addresses.length == keys.length, "ASSETS and KEYS differ in number. Give each asset one key.");
        Asset[] memory assets = new Asset[](keys.length);
        _logAdapter("QuoteAdapter");
        console.log("  maximum age %s seconds", maxAge);
        for (uint256 i = 0; i < keys.length; ++i) {
            bool isCommonQuote = bytes(keys[i]).length == 0;
            if (!isCommonQuote) _checkKey(keys[i]);
            uint256 decimals = _decimalsOf(addresses[i]);
            string memory price = isCommonQuote ? "the common quote" : keys[i];
            console.log("  asset %s, with %s decimals: %s", addresses[i], decimals, price);
            assets[i] = Asset(addresses[i], bytes(keys[i]));
        }
        _deploy("QuoteAdapter", abi.encode(dataset, maxAge, assets));
    }

    /// @notice Deploys a MorphoAdapter of COLLATERAL and LOAN over the QuoteAdapter at QUOTES.
    function morpho() external checked ofNumbers {
        _requireSet("QUOTES", "the address of a QuoteAdapter");
        _requireSet("COLLATERAL", "the address of the collateral token");
        _requireSet("LOAN", "the address of the token that is lent");
        address adapter = _addressVariable("QUOTES");
        require(adapter.code.length > 0, "QUOTES has no code. Deploy a QuoteAdapter first.");
        address collateral = _addressVariable("COLLATERAL");
        address loan = _addressVariable("LOAN");
        _requirePair(IQuoteAdapter(adapter), collateral, loan);
        _logAdapter("MorphoAdapter");
        console.log("  quotes %s", adapter);
        console.log("  collateral %s", collateral);
        console.log("  loan %s", loan);
        _deploy("MorphoAdapter", abi.encode(adapter, collateral, loan));
    }

    /// @dev An adapter of a key that the dataset can never store, or that nobody serves, would never answer.
    function _checkKey(string memory key) private {
        KeyForm form = dataset.keyForm();
        require(
            KeyFormLibrary.matches(form, bytes(key)),
            string.concat(key, " is not a key of the dataset. Price keys are like SPOTPX/ETH-USD.")
        );
        if (form == KeyForm.SPOT_PRICE && !_contains(_listedKeys(name), key)) {
            string memory place = string.concat(" is not among the keys of ", name, " in ", deploymentPath);
            _warn(string.concat(key, place, ". If no data provider serves it, the adapter never answers."));
        }
    }

    /// @dev Returns the decimals that the QuoteAdapter's constructor reads, which counts an asset without any as having
    /// 18: a mistyped token would make its quotes wrong by powers of ten.
    function _decimalsOf(address asset) private view returns (uint256) {
        if (asset != address(0) && uint160(asset) <= MAX_CURRENCY) return 18;
        require(
            asset.code.length > 0 || asset == ETHER,
            string.concat(
                "ASSETS has ",
                vm.toString(asset),
                ", which has no code on this network. Name the token's address on it."
            )
        );
        (bool isDone, bytes memory answer) = asset.staticcall(abi.encodeCall(IERC20Metadata.decimals, ()));
        return isDone && answer.length >= 32 ? abi.decode(answer, (uint256)) : 18;
    }

    /// @dev Markets on Morpho keep their oracle, so one that can never answer would be there for ever. While there is no
    /// price or no subscription yet, the QuoteAdapter reverts with other errors.
    function _requirePair(IQuoteAdapter adapter, address collateral, address loan) private view {
        try adapter.getQuote(1, collateral, loan) returns (uint256) {}
        catch (bytes memory refusal) {
            // Fewer than four bytes, as of a contract without this function, are padded with zeros.
            // forge-lint: disable-next-line(unsafe-typecast)
            bytes4 selector = bytes4(refusal);
            require(
                selector != 0 && selector != IQuoteAdapter.OracleUnsupportedPair.selector,
                "QUOTES does not quote COLLATERAL in LOAN. Name a QuoteAdapter that lists both tokens."
            );
        }
    }

    function _logAdapter(string memory adapter) private pure {
        console.log("Settings of %s, all fixed for ever:", adapter);
    }

    function _deploy(string memory adapter, bytes memory arguments) private {
        bytes memory code = bytes.concat(_compiled(adapter), arguments);
        vm.broadcast();
        console.log("Deploy %s at %s", adapter, _create(code));
        _finish();
    }
}
