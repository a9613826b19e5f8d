// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";
import {KeyForm, KeyFormLibrary} from "../types/KeyForm.sol";
import {SingleKeyReader} from "./SingleKeyReader.sol";

/// @title ChainlinkAdapter
/// @notice Answers Chainlink's `AggregatorV3Interface` with one key of a dataset of numbers.
/// @dev A round's id is its time, so that ids never decrease. Staleness is visible by `updatedAt`, as with Chainlink:
/// consumers compare it with the age that they accept. `latestAnswer` is missing on purpose, because it does not tell
/// the age.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract ChainlinkAdapter is SingleKeyReader {
    using KeyFormLibrary for KeyForm;

    /// @notice The account is no dataset that decides by the median: pass the address of a dataset of numbers.
    error NotANumberDataset(address account);

    /// @notice The answers cannot have more decimals than the dataset's values, which have `max`.
    error TooManyDecimals(uint256 decimals, uint256 max);

    /// @dev The decimals of a spot price.
    uint256 private constant VALUE_DECIMALS = 18;

    /// @notice The version of this adapter.
    uint256 public constant version = 1;

    /// @notice The decimals of every answer.
    uint8 public immutable decimals;

    uint256 private immutable _unit;

    /// @param dataset_ A dataset whose values have 18 decimals.
    /// @param key_ The key that is read, in the dataset's form, of 1 to 96 bytes. Reverts with `InvalidKey` (see
    /// `IDataset`) for one of another form.
    /// @param decimals_ The decimals of the answers, at most 18: Chainlink's feeds in US dollars have 8. Further digits
    /// are cut off.
    constructor(IDataset dataset_, bytes memory key_, uint8 decimals_) SingleKeyReader(dataset_, key_) {
        if (decimals_ > VALUE_DECIMALS) revert TooManyDecimals(decimals_, VALUE_DECIMALS);
        uint256 judgement = _ask(dataset_, IDataset.judgement.selector);
        if (judgement != uint256(IDataset.Judgement.MEDIAN)) revert NotANumberDataset(address(dataset_));
        if (!dataset_.keyForm().matches(key_)) revert IDataset.InvalidKey(key_);
        decimals = decimals_;
        _unit = 10 ** (VALUE_DECIMALS - decimals_);
    }

    /// @notice The key that is read.
    function description() external view returns (string memory) {
        return string(_key());
    }

    /// @notice Returns the stored round: its id, the answer with `decimals` decimals, the round's time twice (as
    /// startedAt and updatedAt, in seconds since 1970), and its id again. Reverts with "No data present" unless its
    /// status is OK and its answer positive, and with `SubscriptionNeeded` while queries are charged and this contract
    /// is not subscribed.
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        (uint80 round, int256 answer) = _storedRound();
        return (round, answer, round, round, round);
    }

    /// @notice Returns the stored round, as `latestRoundData` does. A dataset keeps no older ones: reverts with "No
    /// data present" for any other id. A consumer that compares a round with the previous one is not supported.
    function getRoundData(uint80 id) external view returns (uint80, int256, uint256, uint256, uint80) {
        (uint80 round, int256 answer) = _storedRound();
        if (round != id) _revertNoData();
        return (round, answer, round, round, round);
    }

    /// @dev Returns the number that a view without arguments answers; the largest one if the account has no such view.
    function _ask(IDataset account, bytes4 selector) private view returns (uint256) {
        (bool isDone, bytes memory answer) = address(account).staticcall(abi.encodePacked(selector));
        return isDone && answer.length == 32 ? abi.decode(answer, (uint256)) : type(uint256).max;
    }

    function _storedRound() private view returns (uint80 round, int256 answer) {
        (bytes32 output, uint256 time, Oracle.QueryStatus status) = _read();
        // A number dataset's values have at most 208 bits, and its rounds 40.
        // forge-lint: disable-next-line(unsafe-typecast)
        (round, answer) = (uint80(time), int256(uint256(output) / _unit));
        if (status != Oracle.QueryStatus.OK || answer == 0) _revertNoData();
    }

    /// @dev The error is that of Chainlink's aggregators, which consumers know.
    function _revertNoData() private pure {
        revert("No data present");
    }
}
