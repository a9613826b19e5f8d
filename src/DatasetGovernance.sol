// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {Oracle} from "./Oracle.sol";
import {DatasetSettings, IDataset} from "./interfaces/IDataset.sol";
import {Committee, CommitteeLibrary} from "./types/Committee.sol";

/// @title DatasetGovernance
/// @notice Lets the owner change the committee and the query price, and shares the income of each committee among its
/// members.
/// @dev Every wei of the balance has one owner: it is owed to a member, or set aside for a committee, or, if it is not
/// reserved for either, the current committee's new income. Ether that is forced into the contract counts as income.
abstract contract DatasetGovernance is IDataset, Ownable2Step, ReentrancyGuardTransient {
    /// @dev The gas that is forwarded with a share. The EVM adds a stipend of 2,300 to every call with Ether, so that a
    /// member's account gets 50,000.
    uint256 private constant FORWARDED_GAS = 50_000 - 2_300;

    /// @dev A call forwards at most 63/64 of the remaining gas, and costs up to 11,600 itself; to keep a refused share
    /// for its member costs up to 28,000. An account that does not exist yet costs 36,600, but it can refuse nothing.
    uint256 private constant MIN_GAS_PER_SHARE = FORWARDED_GAS + FORWARDED_GAS / 63 + 40_000;

    /// @dev Four members are the fewest that tolerate a liar: a smaller committee would be worse off than with the one
    /// that it ejected.
    uint256 private constant MIN_AFTER_EJECTION = 4;

    /// @param blockNumber The block of the event that has the committee.
    /// @param beginning When the owner set the committee, in seconds since 1970. What members signed before does not
    /// count against them, so that one that was ejected and set again is not ejected for the same.
    struct Term {
        uint128 blockNumber;
        uint128 beginning;
    }

    /// @inheritdoc IDataset
    uint256 public immutable priceCeiling;

    /// @inheritdoc IDataset
    bytes32 public committeeHash;

    Term private _term;

    /// @inheritdoc Oracle
    uint256 public queryPrice;

    /// @inheritdoc IDataset
    mapping(address member => uint256) public unpaidShares;

    /// @dev The income set aside for a committee, up to the last time that it was shared or the committee was replaced.
    mapping(bytes32 committeeHash => uint256) private _setAside;

    /// @dev The sum of all that is set aside or owed. At every call that leaves this contract, it is at most the balance.
    uint256 private _reserved;

    constructor(DatasetSettings memory settings) Ownable(settings.owner) {
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

    /// @inheritdoc IDataset
    function committeeBlock() external view returns (uint256) {
        return _term.blockNumber;
    }

    /// @inheritdoc IDataset
    function unsharedIncomeOf(bytes32 committee) external view returns (uint256 income) {
        income = _setAside[committee];
        if (committee == committeeHash) income += address(this).balance - _reserved;
    }

    /// @inheritdoc IDataset
    function shareIncome(address[] calldata members, uint256 toleranceBps) external nonReentrant {
        bytes32 shown = CommitteeLibrary.hashOf(members, toleranceBps);
        _setNewIncomeAside();
        uint256 income = _setAside[shown];
        if (income == 0 && shown != committeeHash) revert NothingToShare(shown);

        uint256 share = income / members.length;
        _setAside[shown] = income % members.length;
        uint256 paid = share == 0 ? 0 : _pay(members, share);
        emit IncomeShared(share, paid);
    }

    /// @inheritdoc IDataset
    function claimShares(address to) external nonReentrant {
        uint256 amount = unpaidShares[msg.sender];
        if (amount == 0) revert NothingToClaim(msg.sender);
        unpaidShares[msg.sender] = 0;
        _reserved -= amount;
        emit SharesClaimed(msg.sender, to, amount);
        if (!_send(to, amount, gasleft())) revert ClaimRejected(to, amount);
    }

    /// @dev Removes a member from the committee and pays its share of the unshared income to the caller. What else is set
    /// aside for the committee is released and so becomes, with its new income, income of the committee that is left: each
    /// of its members gets at least what it would have got. Nothing is left to do when the caller is paid, so that it may
    /// call anything.
    /// @param accused The zero address if it signed nothing; no member is zero.
    /// @param round The round of what it signed.
    function _eject(address accused, uint256 round, address[] calldata members, uint256 toleranceBps) internal {
        uint256 size = members.length;
        bytes32 shown = CommitteeLibrary.copy(members, toleranceBps).hash(size);
        if (shown != committeeHash) revert WrongCommittee(shown, committeeHash);
        if (size <= MIN_AFTER_EJECTION) revert CommitteeTooSmall(size, MIN_AFTER_EJECTION);
        uint256 beginning = _term.beginning;
        if (round <= beginning) revert RoundBeforeCommittee(round, beginning);
        uint256 place = _placeOf(accused, members);

        uint256 aside = _setAside[shown];
        if (aside != 0) {
            _setAside[shown] = 0;
            _reserved -= aside;
        }
        uint256 reward = (address(this).balance - _reserved) / size;
        Committee rest = CommitteeLibrary.copyWithout(members, toleranceBps, place);
        committeeHash = rest.hash(size - 1);
        _begin(rest.intoMembers(size - 1), toleranceBps, beginning);
        emit MemberEjected(accused, msg.sender, reward);
        if (reward != 0 && !_send(msg.sender, reward, gasleft())) revert RewardRejected(msg.sender, reward);
    }

    function _placeOf(address member, address[] calldata members) private pure returns (uint256 place) {
        unchecked {
            while (members[place] != member) {
                if (++place == members.length) revert NotAMember(member);
            }
        }
    }

    /// @dev Sets what the queries have paid since the last time aside for the current committee.
    function _setNewIncomeAside() private {
        uint256 balance = address(this).balance;
        _setAside[committeeHash] += balance - _reserved;
        _reserved = balance;
    }

    /// @dev Pays each member its share, or owes it to the member.
    function _pay(address[] calldata members, uint256 share) private returns (uint256 paid) {
        for (uint256 i = 0; i < members.length; ++i) {
            if (gasleft() < MIN_GAS_PER_SHARE) revert TooLittleGas(gasleft(), MIN_GAS_PER_SHARE);
            // Before the call, because the member may be the owner, and set a new committee.
            _reserved -= share;
            if (_send(members[i], share, FORWARDED_GAS)) {
                paid += share;
            } else {
                _reserved += share;
                unpaidShares[members[i]] += share;
                emit ShareRefused(members[i], share);
            }
        }
    }

    /// @dev Ignores the return data: a malicious account could return enough of it to exhaust the gas.
    function _send(address to, uint256 amount, uint256 gasLimit) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasLimit, to, amount, 0, 0, 0, 0)
        }
    }

    function _setCommittee(address[] memory members, uint256 toleranceBps) private {
        committeeHash = CommitteeLibrary.checkedHash(members, toleranceBps);
        _begin(members, toleranceBps, block.timestamp);
    }

    function _begin(address[] memory members, uint256 toleranceBps, uint256 beginning) private {
        // Neither number reaches 128 bits.
        // forge-lint: disable-next-line(unsafe-typecast)
        _term = Term({blockNumber: uint128(block.number), beginning: uint128(beginning)});
        emit CommitteeChanged(members, toleranceBps);
    }

    function _setQueryPrice(uint256 price) private {
        if (price > priceCeiling) revert PriceAboveCeiling(price, priceCeiling);
        queryPrice = price;
        emit QueryPriceChanged(price);
    }
}
