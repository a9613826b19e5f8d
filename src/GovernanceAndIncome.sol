// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {Oracle} from "./Oracle.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {Committee, CommitteeLibrary} from "./types/Committee.sol";

/// @title GovernanceAndIncome
/// @notice Lets the owner change the committee and the query price, and shares the income of each committee among its
/// members.
/// @dev Every wei of the balance has one owner: it is owed to a member, or set aside for a committee, or, if it is not
/// reserved for either, the current committee's new income. Ether that is forced into the contract counts as income.
abstract contract GovernanceAndIncome is IDataset, Ownable2Step, ReentrancyGuardTransient {
    /// @dev The gas with which a member's account accepts its share. It is too little to create storage, a contract or
    /// an account, under the rules of Prague and of Amsterdam: Amsterdam's pay for these from a reserve of the
    /// transaction first (EIP-8037), which a call may use up whatever its gas limit is. So a member that wants to harm
    /// the caller can burn this much, and no more.
    uint256 private constant SHARE_GAS = 10_000;

    /// @dev What the EVM adds to the gas of every call with Ether.
    uint256 private constant STIPEND = 2_300;

    /// @dev A call gets at most 63/64 of the remaining gas. Where this much is left after it, it got all of its gas. To
    /// check that before the call would take the price of a call, which depends on the EVM and on the account.
    uint256 private constant MIN_GAS_LEFT = SHARE_GAS + SHARE_GAS / 63;

    /// @dev Four members are the fewest that tolerate a liar: a smaller committee would be worse off than with the one
    /// that it ejected.
    uint256 private constant MIN_AFTER_EJECTION = 4;

    /// @dev The number of bits of the committee's hash, the lower ones, that do not fit in the slot of the query price.
    uint256 private constant TAIL_BITS = 72;

    /// @dev The storage that updates and queries use here, in one slot: reading a second one, cold, would cost 2,100
    /// gas more.
    /// @param queryPrice In wei, below 2^72, which is 4,722 Ether.
    /// @param committee The upper 184 bits of the committee's hash. Another list with the same bits takes 2^184 hashes
    /// to find; 2^92 for somebody who also influences which list the owner sets. That is more than the 2^80 that it
    /// takes to find two keys with one address, on which any list of addresses relies.
    struct Terms {
        uint72 queryPrice;
        uint184 committee;
    }

    /// @dev The storage that only governance, accusations and the sharing of the income need, in one slot.
    /// @param blockNumber The block of the event that lists the committee.
    /// @param beginning When the owner set the committee, in seconds since 1970. Only later rounds count in an
    /// accusation, so that a member that was ejected and then set again is not ejected again for the same statements.
    /// @param hashTail The lower bits of the committee's hash.
    /// @param reserved The sum of all that is set aside or owed. At every call that leaves this contract, it is at most
    /// the balance.
    struct Record {
        uint40 blockNumber;
        uint48 beginning;
        uint72 hashTail;
        uint96 reserved;
    }

    /// @inheritdoc IDataset
    uint256 public immutable priceCeiling;

    Terms private _terms;

    Record private _record;

    /// @inheritdoc IDataset
    mapping(address member => uint256) public unpaidShares;

    /// @dev The income set aside for a committee when it was replaced.
    mapping(bytes32 committeeHash => uint256) private _setAside;

    constructor(DatasetSettings memory settings) Ownable(settings.owner) {
        if (settings.priceCeiling > type(uint72).max) {
            revert PriceAboveCeiling(settings.priceCeiling, type(uint72).max);
        }
        priceCeiling = settings.priceCeiling;
        _setCommittee(settings.members, settings.toleranceBps);
        _setQueryPrice(settings.queryPrice);
    }

    /// @inheritdoc IDataset
    /// @dev Pays nobody, so that no member can block a new committee.
    function setCommittee(address[] calldata members, uint256 toleranceBps) external onlyOwner {
        _setNewIncomeAside();
        _setCommittee(members, toleranceBps);
    }

    /// @inheritdoc IDataset
    function setQueryPrice(uint256 price) external onlyOwner {
        _setQueryPrice(price);
    }

    /// @inheritdoc Oracle
    function queryPrice() public view returns (uint256) {
        return _terms.queryPrice;
    }

    /// @inheritdoc IDataset
    function committeeHash() public view returns (bytes32) {
        return _committeeHash(_record.hashTail);
    }

    /// @inheritdoc IDataset
    function committeeBlock() external view returns (uint256) {
        return _record.blockNumber;
    }

    /// @inheritdoc IDataset
    function unsharedIncomeOf(bytes32 committee) public view returns (uint256 income) {
        income = _setAside[committee];
        if (committee == committeeHash()) income += address(this).balance - _record.reserved;
    }

    /// @inheritdoc IDataset
    function shareIncome(address[] calldata members, uint256 toleranceBps) external nonReentrant {
        bytes32 shown = CommitteeLibrary.hashOf(members, toleranceBps);
        uint256 share = _takeIncome(shown, members.length);
        uint256 paid = 0;
        for (uint256 i = 0; share != 0 && i < members.length; ++i) {
            if (_pay(members[i], share)) paid += share;
        }
        emit IncomeShared(shown, share, paid);
    }

    /// @inheritdoc IDataset
    function claimShares(address to) external nonReentrant {
        uint256 amount = unpaidShares[msg.sender];
        if (amount == 0) revert NothingToClaim(msg.sender);
        unpaidShares[msg.sender] = 0;
        _record.reserved -= _wei(amount);
        emit SharesClaimed(msg.sender, to, amount);
        if (!_send(to, amount, gasleft())) revert ClaimRejected(to, amount);
    }

    /// @dev Removes a member from the committee and pays its share of the unshared income to the caller. The rest of
    /// what is set aside for the committee is released: with the new income, it becomes income of the remaining
    /// committee, and each of its members gets at least what it would have got. The caller is paid last, so that it may
    /// call anything.
    /// @param accused The signer of the statements; zero if their signatures are invalid. No member is zero.
    /// @param round The round of the statements.
    function _eject(address accused, uint256 round, address[] calldata members, uint256 toleranceBps) internal {
        uint256 size = members.length;
        bytes32 shown = CommitteeLibrary.copy(members, toleranceBps).hash(size);
        Record memory record = _record;
        bytes32 current = _committeeHash(record.hashTail);
        if (shown != current) revert WrongCommittee(shown, current);
        if (size <= MIN_AFTER_EJECTION) revert CommitteeTooSmall(size, MIN_AFTER_EJECTION);
        if (round <= record.beginning) revert RoundBeforeCommittee(round, record.beginning);
        uint256 place = _placeOf(accused, members);

        uint256 aside = _setAside[shown];
        if (aside != 0) {
            _setAside[shown] = 0;
            record.reserved -= _wei(aside);
        }
        uint256 reward = (address(this).balance - record.reserved) / size;
        Committee rest = CommitteeLibrary.copyWithout(members, toleranceBps, place);
        bytes32 hash = rest.hash(size - 1);
        _install(hash, rest.intoMembers(size - 1), toleranceBps, record);
        emit MemberEjected(accused, msg.sender, reward);
        if (reward != 0 && !_send(msg.sender, reward, gasleft())) revert RewardRejected(msg.sender, reward);
    }

    function _committeeHash(uint256 tail) private view returns (bytes32) {
        return bytes32((uint256(_terms.committee) << TAIL_BITS) | tail);
    }

    /// @dev Returns true for the current committee's hash. Only its upper bits are compared; the lower ones are not
    /// read.
    function _isCommittee(bytes32 shown) internal view returns (bool) {
        return uint256(shown) >> TAIL_BITS == _terms.committee;
    }

    /// @dev No balance reaches 2^96 wei, which are 79 billion Ether.
    function _wei(uint256 amount) private pure returns (uint96) {
        // forge-lint: disable-next-line(unsafe-typecast)
        return uint96(amount);
    }

    function _placeOf(address member, address[] calldata members) private pure returns (uint256 place) {
        unchecked {
            while (members[place] != member) {
                if (++place == members.length) revert NotAMember(member);
            }
        }
    }

    /// @dev Sets the new income aside for the current committee.
    function _setNewIncomeAside() private {
        uint256 balance = address(this).balance;
        _setAside[committeeHash()] += balance - _record.reserved;
        _record.reserved = _wei(balance);
    }

    /// @dev Takes as much of a committee's income as can be divided equally, and reserves it for the members. Reverts if
    /// there is no income and the committee is not the current one.
    /// @return share What each member gets.
    function _takeIncome(bytes32 shown, uint256 size) private returns (uint256 share) {
        bool isCurrent = shown == committeeHash();
        uint256 income = unsharedIncomeOf(shown);
        if (income == 0 && !isCurrent) revert NothingToShare(shown);
        share = income / size;
        // No sum of wei overflows.
        unchecked {
            // The remainder of the current committee is new income again: it needs no slot of its own.
            uint256 left = isCurrent ? 0 : income - share * size;
            _record.reserved += _wei(share * size + left - _setAside[shown]);
            _setAside[shown] = left;
        }
    }

    /// @dev Pays an account, or owes it the amount.
    function _pay(address to, uint256 amount) private returns (bool isPaid) {
        // Deducted before the call, because the account may be the owner and set a new committee during it.
        _record.reserved -= _wei(amount);
        isPaid = _send(to, amount, SHARE_GAS - STIPEND);
        if (gasleft() < MIN_GAS_LEFT) revert TooLittleGas(gasleft(), MIN_GAS_LEFT);
        if (!isPaid) {
            _record.reserved += _wei(amount);
            unpaidShares[to] += amount;
            emit ShareRefused(to, amount);
        }
    }

    /// @dev Ignores the return data: a malicious account could return enough of it to exhaust the gas.
    function _send(address to, uint256 amount, uint256 gasLimit) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasLimit, to, amount, 0, 0, 0, 0)
        }
    }

    function _setCommittee(address[] memory members, uint256 toleranceBps) private {
        bytes32 hash = CommitteeLibrary.checkedHash(members, toleranceBps);
        Record memory record = _record;
        // forge-lint: disable-next-line(unsafe-typecast)
        record.beginning = uint48(block.timestamp);
        _install(hash, members, toleranceBps, record);
    }

    function _install(bytes32 hash, address[] memory members, uint256 toleranceBps, Record memory record) private {
        // forge-lint: disable-start(unsafe-typecast)
        record.blockNumber = uint40(block.number);
        record.hashTail = uint72(uint256(hash));
        _terms.committee = uint184(uint256(hash) >> TAIL_BITS);
        // forge-lint: disable-end(unsafe-typecast)
        _record = record;
        emit CommitteeChanged(members, toleranceBps);
    }

    function _setQueryPrice(uint256 price) private {
        if (price > priceCeiling) revert PriceAboveCeiling(price, priceCeiling);
        // The ceiling is below 2^72.
        // forge-lint: disable-next-line(unsafe-typecast)
        _terms.queryPrice = uint72(price);
        emit QueryPriceChanged(price);
    }
}
