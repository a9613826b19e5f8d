// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {GovernanceAndIncome} from "./GovernanceAndIncome.sol";
import {ReportDomain} from "./ReportDomain.sol";
import {IDataset, Statement} from "./interfaces/IDataset.sol";
import {BATCH_TYPEHASH, REPORT_TYPEHASH} from "./types/ReportTemplate.sol";

/// @title Accusations
/// @notice Ejects a member of the committee that signed two different contents for one key and round.
/// @dev A provider decides the value of a key at a round once, so that an honest one never signs another, in whatever
/// reports and rows it is asked for. Digests are computed in plain Solidity, and signers recovered by a library: if the
/// functions that updates use had a second caller, they would no longer be inlined, and every update would cost more.
abstract contract Accusations is GovernanceAndIncome, ReportDomain {
    /// @dev A row's `missing` bitmap has one bit for each key.
    uint256 internal constant MAX_BATCH = 256;

    /// @inheritdoc IDataset
    /// @dev With the parameters in this order, the selector is greater than a query's: the dispatcher compares
    /// selectors in ascending order, and every function before `query` makes each query cost 22 gas more.
    function accuse(
        bytes32 keyHash,
        uint256 timestamp,
        Statement calldata a,
        Statement calldata b,
        address[] calldata members,
        uint256 toleranceBps
    ) external {
        bytes32 domain = _computeDomainSeparator();
        (bytes32 digestA, uint256 outcomeA, bytes32 valueA) = _contentOf(a, domain, keyHash, timestamp);
        (bytes32 digestB, uint256 outcomeB, bytes32 valueB) = _contentOf(b, domain, keyHash, timestamp);
        bool isSame = outcomeA == outcomeB && valueA == valueB;
        // A row with the key twice is one statement, whatever it has in the two places.
        if (isSame || digestA == digestB) revert NoContradiction(_hash(outcomeA, valueA), _hash(outcomeB, valueB));
        (address accused,,) = ECDSA.tryRecover(digestA, a.r, a.vs);
        (address signer,,) = ECDSA.tryRecover(digestB, b.r, b.vs);
        if (accused != signer) revert DifferentSigners(accused, signer);
        _eject(accused, timestamp, members, toleranceBps);
    }

    /// @return digest The digest that was signed.
    /// @return outcome The outcome that the statement has for the key.
    /// @return value The value that it has for the key; 0 if that is "no data", whose value every update ignores.
    function _contentOf(Statement calldata statement, bytes32 domain, bytes32 keyHash, uint256 timestamp)
        private
        pure
        returns (bytes32 digest, uint256 outcome, bytes32 value)
    {
        bytes32[] calldata keyHashes = statement.keyHashes;
        bytes32[] calldata values = statement.values;
        outcome = statement.outcome;
        value = values[statement.index];
        bytes32 typehash = REPORT_TYPEHASH;
        bytes32 signedKey = keyHash;
        bytes32 signedValue = value;
        if (keyHashes.length != 0) {
            if (keyHashes.length > MAX_BATCH) revert TooManyKeys(keyHashes.length, MAX_BATCH);
            bytes32 named = keyHashes[statement.index];
            if (named != keyHash) revert WrongKey(named, keyHash);
            (typehash, signedKey) = (BATCH_TYPEHASH, keccak256(abi.encodePacked(keyHashes)));
            signedValue = keccak256(abi.encodePacked(values));
            bool isMissing = (outcome >> statement.index) & 1 == 1;
            outcome = uint256(isMissing ? QueryStatus.NOT_AVAILABLE : QueryStatus.OK);
        }
        bytes32 report = keccak256(abi.encode(typehash, signedKey, statement.outcome, signedValue, timestamp));
        digest = MessageHashUtils.toTypedDataHash(domain, report);
        if (outcome == uint256(QueryStatus.NOT_AVAILABLE)) value = 0;
    }

    function _hash(uint256 outcome, bytes32 value) private pure returns (bytes32) {
        return keccak256(abi.encode(outcome, value));
    }
}
