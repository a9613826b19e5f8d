// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {AdapterFixture, IKeyList} from "./AdapterFixture.sol";
import {IPyth} from "./ExternalInterfaces.sol";

contract PythAdapterTest is AdapterFixture {
    string private constant ADAPTER = "PythAdapter.sol:PythAdapter";
    bytes32 private constant ID = keccak256(KEY);

    IPyth private pyth;

    function setUp() public override {
        super.setUp();
        pyth = _adapter(-8, TOLERANCE_BPS);
        subscribe(address(pyth));
    }

    function testFuzz_getPriceUnsafe_answersWhatIsStored(uint256 value, int256 expo, uint256 bps, uint256 age) public {
        expo = bound(expo, -18, 0);
        // forge-lint: disable-next-line(unsafe-typecast)
        uint256 unit = 10 ** uint256(18 + expo);
        value = bound(value, unit, uint256(uint64(type(int64).max)) * unit);
        bps = bound(bps, 0, 10_000);
        IPyth any = _adapter(expo, bps);
        subscribe(address(any));
        store(value, START + 60);
        vm.warp(START + 60 + bound(age, 0, 29 days));
        IPyth.Price memory price = any.getPriceUnsafe(ID);
        assertEq(uint64(price.price), value / unit);
        assertEq(price.conf, value / unit * bps / 10_000);
        assertEq(price.expo, expo);
        assertEq(price.publishTime, START + 60, "the age of the price must be visible");
    }

    function testFuzz_getPriceNoOlderThan_answersUpToTheAge(uint256 age, uint256 max) public {
        age = bound(age, 0, 29 days);
        max = bound(max, 0, 29 days);
        vm.warp(START + age);
        if (age > max) vm.expectRevert(IPyth.StalePrice.selector);
        IPyth.Price memory price = pyth.getPriceNoOlderThan(ID, max);
        if (age <= max) assertEq(price.price, 3000e8);
    }

    function test_getPrice_RevertWhen_theStatusIsNotOK() public {
        storeNoData(START + 60);
        _refuses(ID);
        storeDisagreement(START + 61);
        _refuses(ID);
        _refuses(IKeyList(address(pyth)).list("SPOTPX/BTC-USD"));
        _refuses(IKeyList(address(pyth)).list("not a key"));
    }

    function test_getPrice_RevertWhen_thePriceIsZeroOrTooLarge() public {
        store(1e10 - 1, START + 60);
        _refuses(ID);
        uint256 max = uint64(type(int64).max);
        store((max + 1) * 1e10, START + 61);
        vm.expectRevert(abi.encodeWithSignature("PriceTooLarge(uint256,uint256)", max + 1, max));
        pyth.getPriceUnsafe(ID);
    }

    function testFuzz_getPrice_RevertWhen_theIdIsUnknown(bytes32 id) public {
        vm.assume(id != ID);
        _refuses(id);
    }

    function testFuzz_list_makesAKeyReadableByItsHashAndChangesNoOther(bytes calldata key) public {
        vm.expectEmit(address(pyth));
        emit IKeyList.KeyListed(keccak256(key), key);
        bytes32 id = IKeyList(address(pyth)).list(key);
        assertEq(id, keccak256(key));
        assertEq(pyth.getPriceUnsafe(ID).price, 3000e8);
    }

    function test_otherFunctions_RevertWhen_called() public {
        vm.expectRevert(_notSupported(IPyth.getEmaPriceUnsafe.selector));
        pyth.getEmaPriceUnsafe(ID);
        vm.expectRevert(_notSupported(IPyth.getEmaPriceNoOlderThan.selector));
        pyth.getEmaPriceNoOlderThan(ID, 60);
        vm.expectRevert(_notSupported(IPyth.getUpdateFee.selector));
        pyth.getUpdateFee(new bytes[](1));
        vm.expectRevert(_notSupported(IPyth.updatePriceFeeds.selector));
        pyth.updatePriceFeeds(new bytes[](1));
        // Consumers of Pyth pay for an update: the error must be the same.
        vm.deal(address(this), 1);
        vm.expectRevert(_notSupported(IPyth.updatePriceFeeds.selector));
        pyth.updatePriceFeeds{value: 1}(new bytes[](1));
    }

    function test_constructor_RevertWhen_theSettingsAreWrong() public {
        bytes memory code = vm.getCode(ADAPTER);
        assertRefused(code, abi.encode(dataset, -19, 0), abi.encodeWithSignature("WrongExponent(int32)", -19));
        assertRefused(code, abi.encode(dataset, 1, 0), abi.encodeWithSignature("WrongExponent(int32)", 1));
        assertRefused(
            code,
            abi.encode(dataset, -8, 10_001),
            abi.encodeWithSignature("WrongConfidence(uint256,uint256)", 10_001, 10_000)
        );
    }

    function _adapter(int256 expo, uint256 bps) private returns (IPyth any) {
        any = IPyth(deployCode(ADAPTER, abi.encode(dataset, expo, bps)));
        IKeyList(address(any)).list(KEY);
    }

    function _refuses(bytes32 id) private {
        vm.expectRevert(IPyth.PriceFeedNotFound.selector);
        pyth.getPriceUnsafe(id);
        vm.expectRevert(IPyth.PriceFeedNotFound.selector);
        pyth.getPriceNoOlderThan(id, 365 days);
    }

    function _notSupported(bytes4 selector_) private pure returns (bytes memory) {
        return abi.encodeWithSignature("NotSupported(bytes4)", selector_);
    }
}
