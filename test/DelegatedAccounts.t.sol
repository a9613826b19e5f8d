// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

import {Shop} from "../examples/foundry/src/Shop.sol";
import {Oracle} from "../src/Oracle.sol";
import {IDataset} from "../src/interfaces/IDataset.sol";
import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {Update} from "./utils/UpdateArguments.sol";

/// @notice An account with a key can have the code of a contract (EIP-7702). It can be whatever any account can be, by a
/// transaction of its key and by its code.
contract DelegatedAccountsTest is DatasetFixture {
    Wallet private account;
    uint256 private key;

    function setUp() public override {
        super.setUp();
        address address_;
        (address_, key) = makeAddrAndKey("delegated account");
        account = Wallet(payable(address_));
        _delegateTo(address(new Wallet()));
    }

    function test_owner_governsByItsCodeAndByItsKey() public {
        vm.prank(OWNER);
        Ownable2Step(address(dataset)).transferOwnership(address(account));
        account.execute(address(dataset), 0, abi.encodeCall(Ownable2Step.acceptOwnership, ()));
        account.execute(address(dataset), 0, abi.encodeCall(IDataset.setQueryPrice, (PRICE + 1)));
        assertEq(dataset.queryPrice(), PRICE + 1);
        vm.prank(address(account), address(account));
        dataset.setQueryPrice(PRICE + 2);
        assertEq(dataset.queryPrice(), PRICE + 2);
    }

    function test_sender_storesUpdatesAndPaysForQueriesAndSubscriptions() public {
        Update memory update = validUpdate();
        account.execute(address(dataset), 0, update.encode());
        bytes memory answer = account.execute(address(dataset), PRICE, abi.encodeCall(Oracle.query, (KEY)));
        assertEq(answer, abi.encode(update.value, block.timestamp, Oracle.QueryStatus.OK));

        account.execute(address(dataset), SUBSCRIPTION_PRICE, abi.encodeCall(IDataset.subscribe, (address(account), 1)));
        vm.prank(address(account), address(account));
        (bytes32 output,,) = dataset.read(KEY);
        assertEq(output, update.value);
        assertEq(address(dataset).balance, PRICE + SUBSCRIPTION_PRICE);
    }

    /// A share comes with little gas, which suffices for code that notes the payment.
    function test_member_isPaidItsShare() public {
        address[] memory members = _seat();
        vm.deal(address(dataset), 4 ether);
        vm.expectEmit(address(account));
        emit Wallet.Received(4 ether);
        dataset.shareIncome(members, TOLERANCE_BPS);
        assertEq(address(account).balance, 5 ether);
    }

    function test_member_claimsAShareThatItsCodeRefuses() public {
        address[] memory members = _seat();
        _delegateTo(address(this));
        vm.deal(address(dataset), 4 ether);
        dataset.shareIncome(members, TOLERANCE_BPS);
        assertEq(dataset.unpaidShares(address(account)), 4 ether);
        address purse = makeAddr("purse");
        vm.prank(address(account), address(account));
        dataset.claimShares(purse);
        assertEq(purse.balance, 4 ether);
    }

    /// Change reaches it, as it reaches a contract.
    function test_buyer_getsItsChangeFromAConsumer() public {
        Shop shop = new Shop(dataset);
        bytes memory buy = abi.encodeCall(Shop.buy, (validUpdate().pack()));
        uint256 cost = abi.decode(account.execute(address(shop), 0.5 ether, buy), (uint256));
        assertEq(address(account).balance, 1 ether - cost);
        vm.prank(address(account), address(account));
        cost += shop.buy{value: 0.5 ether}("");
        assertEq(address(account).balance, 1 ether - cost);
        assertEq(shop.ticketsOf(address(account)), 2);
    }

    /// @dev Gives the account code, and an Ether in all.
    function _delegateTo(address code) private {
        vm.signAndAttachDelegation(code, key);
        // Forge applies it with the next call.
        dataset.queryPrice();
        assertEq(address(account).code, abi.encodePacked(hex"ef0100", code));
        vm.deal(address(account), 1 ether);
    }

    /// @dev Makes the account the whole committee.
    function _seat() private returns (address[] memory members) {
        members = new address[](1);
        members[0] = address(account);
        vm.prank(OWNER);
        dataset.setCommittee(members, TOLERANCE_BPS);
    }
}

/// @dev The code of a smart account. It trusts everybody.
contract Wallet {
    event Received(uint256 amount);

    receive() external payable {
        emit Received(msg.value);
    }

    function execute(address to, uint256 value, bytes calldata data) external returns (bytes memory) {
        (bool done, bytes memory answer) = to.call{value: value}(data);
        require(done, string(answer));
        return answer;
    }
}
