// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";
import {IUpdateGateway} from "../interfaces/IUpdateGateway.sol";
import {UpdateCalldata} from "../libraries/UpdateCalldata.sol";

/// @title VerifiedLens
/// @notice Answers an `eth_call`, free of charge, with a value that is as fresh as the caller wants: the stored value,
/// or one that operators' gateways fetch and the dataset verifies. Libraries that support ERC-3668, such as viem and
/// ethers, ask the gateways by themselves. Nobody has to trust a gateway: what it answers is proven by the committee's
/// signatures, or the call reverts.
/// @dev The response of a gateway is a packed update, which the lens has the dataset verify.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract VerifiedLens {
    /// @notice The answer needs an update from a gateway (ERC-3668). Libraries catch this error, ask one of the `urls`,
    /// and call `callbackFunction` with the response and `extraData`.
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    /// @notice The dataset charges for queries, and this call has a sender, so it could belong to a transaction. Make it
    /// an `eth_call` whose `from` is the zero address, which is free, or subscribe the lens to the dataset. Without
    /// `from`, some nodes fill in a sender of their own.
    error CallNamesSender(address sender);

    /// @notice The update that the gateway sent is older than the call allows: try again, or allow a greater age. Both
    /// in seconds.
    error TooOld(uint256 age, uint256 maxAge);

    /// @notice The address does not answer as a dataset does.
    error NotADataset(IDataset dataset);

    /// @notice The lens would have no gateway to ask: give it at least one URL.
    error NoGateways();

    string[] private _gateways;

    /// @param gateways_ The URLs of the gateways, in the order in which they are asked, as ERC-3668 defines them: with
    /// "{sender}" and "{data}" for GET, without "{data}" for POST.
    constructor(string[] memory gateways_) {
        if (gateways_.length == 0) revert NoGateways();
        _gateways = gateways_;
    }

    /// @notice Returns the URLs of the gateways.
    function gateways() external view returns (string[] memory) {
        return _gateways;
    }

    /// @notice Returns the value of a key, at most `maxAge` seconds old. Call it with `eth_call` and the zero address
    /// as the sender. Reverts with `OffchainLookup` if the stored value is older; may also revert with
    /// `CallNamesSender` or `NotADataset`.
    /// @param dataset The dataset that is read.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age of the value, in seconds before the block in which the call executes. Allow more
    /// than the time between blocks: with less, and with 0 in particular, even an update made just now can be too old.
    /// @return output As in `Oracle.query`.
    /// @return updatedAt As in `Oracle.query`; 0 if the status is INVALID.
    /// @return status As in `Oracle.query`. Use the value only if it is OK.
    function read(IDataset dataset, bytes calldata key, uint256 maxAge)
        external
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        (output, updatedAt, status) = _ask(dataset, abi.encodeCall(IDataset.read, (key)));
        // No gateway can have an update of a key that does not have the dataset's key form.
        if (status == Oracle.QueryStatus.INVALID || block.timestamp - updatedAt <= maxAge) {
            return (output, updatedAt, status);
        }
        _lookUp(dataset, key, maxAge, 0);
    }

    /// @notice Continues `read` with the response of a gateway. If the response proves nothing, for example because it
    /// was forged, asks again, without the gateway that was first in the list. After the last gateway, reverts with the
    /// reason, which is most often the dataset's own error.
    /// @param response A packed update of the key, as `IDataset` describes it.
    /// @param extraData As `OffchainLookup` had it.
    /// @return output As in `read`.
    /// @return updatedAt As in `read`.
    /// @return status As in `read`.
    function readCallback(bytes calldata response, bytes calldata extraData)
        external
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        (IDataset dataset, bytes memory key, uint256 maxAge, uint256 skipped) =
            abi.decode(extraData, (IDataset, bytes, uint256, uint256));
        try this.prove(dataset, key, maxAge, response) returns (
            bytes32 output_, uint256 updatedAt_, Oracle.QueryStatus status_
        ) {
            return (output_, updatedAt_, status_);
        } catch (bytes memory reason) {
            if (skipped + 1 < _gateways.length) _lookUp(dataset, key, maxAge, skipped + 1);
            LowLevelCall.bubbleRevert(reason);
        }
    }

    /// @notice Verifies an update in the dataset, for `readCallback`. Reverts with the dataset's error if it proves
    /// nothing, or with `TooOld`, `CallNamesSender`, `NotADataset` or the errors of `UpdateCalldata`.
    /// @param dataset As in `read`.
    /// @param key As in `read`.
    /// @param maxAge As in `read`.
    /// @param update As `response` in `readCallback`.
    /// @return output As in `read`.
    /// @return updatedAt As in `read`.
    /// @return status As in `read`.
    function prove(IDataset dataset, bytes calldata key, uint256 maxAge, bytes calldata update)
        external
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        (output, updatedAt, status) = _ask(dataset, UpdateCalldata.toVerification(update, key));
        uint256 age = block.timestamp - updatedAt;
        if (age > maxAge) revert TooOld(age, maxAge);
    }

    /// @param skipped The number of gateways, from the first, that are not asked.
    function _lookUp(IDataset dataset, bytes memory key, uint256 maxAge, uint256 skipped) private view {
        string[] memory urls = new string[](_gateways.length - skipped);
        for (uint256 i = 0; i < urls.length; ++i) {
            urls[i] = _gateways[skipped + i];
        }
        revert OffchainLookup(
            address(this),
            urls,
            abi.encodeCall(IUpdateGateway.fetchUpdate, (dataset, key)),
            this.readCallback.selector,
            abi.encode(dataset, key, maxAge, skipped)
        );
    }

    /// @dev Makes a static call, so that nothing can be paid or stored. The dataset decides who reads for nothing.
    function _ask(IDataset dataset, bytes memory data)
        private
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        (bool isDone, bytes memory result) = address(dataset).staticcall(data);
        if (!isDone) _revertWithDatasetError(result);
        if (result.length != 96) revert NotADataset(dataset);
        return abi.decode(result, (bytes32, uint256, Oracle.QueryStatus));
    }

    /// @dev Reverts with the dataset's error. An error that asks the lens to subscribe or to pay would not help the
    /// caller: it becomes `CallNamesSender`.
    function _revertWithDatasetError(bytes memory reason) private view {
        // An error begins with its selector. Fewer than four bytes are padded with zeros.
        // forge-lint: disable-next-line(unsafe-typecast)
        bytes4 selector = bytes4(reason);
        if (selector == IDataset.SubscriptionNeeded.selector || selector == IDataset.WrongPayment.selector) {
            revert CallNamesSender(tx.origin);
        }
        LowLevelCall.bubbleRevert(reason);
    }
}
