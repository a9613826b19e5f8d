// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "@dataset-oracle/contracts/interfaces/IDataset.sol";
import {UpdateCalldata} from "@dataset-oracle/contracts/libraries/UpdateCalldata.sol";
import {Oracle, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";

/// @title Settlement
/// @notice Holds a stake until a number of a stated time is known, or the first one after it: then `above` gets the
/// stake if the number is at least `strike`, and `below` otherwise. Whoever brings the number cannot wait for one that
/// suits them, because an earlier round replaces a later one for as long as a dataset takes an earlier one.
contract Settlement is usingOracleProtocol {
    /// @notice The round is earlier than the stated time, or not earlier than the recorded one, and proves nothing new.
    /// All in seconds since 1970; `recorded` is 0 while there is none.
    error NotNeeded(uint256 round, uint256 time, uint256 recorded);

    /// @notice There was no value in this round: bring a later one.
    error NoValue(Oracle.QueryStatus status);

    /// @notice An earlier round can still be recorded: wait until `finalAt`, in seconds since 1970; 0 while none is
    /// recorded.
    error NotFinal(uint256 finalAt);

    /// @notice The winner took no Ether.
    error PaymentRefused(address winner);

    /// @notice The dataset of numbers that decides.
    Oracle public immutable oracle;

    /// @notice The stated time, in seconds since 1970.
    uint256 public immutable time;

    /// @notice The least number that `above` wins with, in the dataset's scale.
    uint256 public immutable strike;

    address public immutable above;
    address public immutable below;

    /// @notice The key that decides, in ASCII.
    bytes public key;

    /// @notice The recorded round, in seconds since 1970; 0 while there is none.
    uint256 public recorded;

    /// @notice The number of the recorded round.
    uint256 public number;

    constructor(Oracle oracle_, bytes memory key_, uint256 time_, uint256 strike_, address above_, address below_)
        payable {
        (oracle, key, time, strike, above, below) = (oracle_, key_, time_, strike_, above_, below_);
    }

    /// @notice Records the number of a round. Anyone may call it, and pays the query price.
    /// @param update A signed update of `key` with a round that is not before `time`, and before `recorded`.
    function record(bytes calldata update) external payable paysFor(oracle) {
        (bool isDone, bytes memory answer) =
            address(oracle).call{value: msg.value}(UpdateCalldata.toVerification(update, key));
        if (!isDone) revertWith(answer);
        (bytes32 output, uint256 round, Oracle.QueryStatus status) =
            abi.decode(answer, (bytes32, uint256, Oracle.QueryStatus));
        if (status != Oracle.QueryStatus.OK) revert NoValue(status);
        if (round < time || (recorded != 0 && round >= recorded)) revert NotNeeded(round, time, recorded);
        (recorded, number) = (round, uint256(output));
    }

    /// @notice Pays the stake to the winner. Anyone may call it once no earlier round can be recorded any more. Ether that
    /// comes in later is paid to the same winner by another call.
    function settle() external {
        uint256 finalAt = recorded == 0 ? 0 : recorded + IDataset(address(oracle)).maxRoundAge();
        if (finalAt == 0 || block.timestamp < finalAt) revert NotFinal(finalAt);
        address winner = number >= strike ? above : below;
        (bool isTaken,) = winner.call{value: address(this).balance}("");
        if (!isTaken) revert PaymentRefused(winner);
    }

    /// @dev Reverts with the dataset's error.
    function revertWith(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }
}
