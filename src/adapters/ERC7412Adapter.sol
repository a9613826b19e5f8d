// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";
import {IERC7412} from "../interfaces/IERC7412.sol";
import {IUpdateGateway} from "../interfaces/IUpdateGateway.sol";
import {UpdateCalldata} from "../libraries/UpdateCalldata.sol";

/// @title ERC7412Adapter
/// @notice Reads a dataset for consumers whose clients know ERC-7412: a read of a value that is too old reverts with
/// `OracleDataRequired`, and the client puts a call of `fulfillOracleQuery` in front of the consumer's.
/// @dev `oracleQuery` is the question that a lens asks its gateways, so that every operator's gateway answers it.
/// @custom:security-contact A private security advisory on the host of this repository: see SECURITY.md
contract ERC7412Adapter is IERC7412 {
    /// @notice An update costs nothing but gas: send no Ether. `sent` is in wei.
    error NoFeeNeeded(uint256 sent);

    /// @inheritdoc IERC7412
    bytes32 public constant oracleId = "DATASET_ORACLE";

    /// @notice The dataset that is read and updated.
    IDataset public immutable dataset;

    constructor(IDataset dataset_) {
        dataset = dataset_;
    }

    /// @notice Queries a key, for the dataset's exact query price. Reverts with `OracleDataRequired` if the
    /// stored value is older than `maxAge`, where a key without one counts as updated in 1970, and with the dataset's
    /// `WrongPayment`.
    /// @param key The key in ASCII, for example "SPOTPX/ETH-USD".
    /// @param maxAge The maximum age of the value, inclusive, in seconds.
    /// @return output As in `Oracle.query`.
    /// @return updatedAt As in `Oracle.query`.
    /// @return status As in `Oracle.query`. Use the value only if it is OK.
    function query(bytes calldata key, uint256 maxAge)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        (output, updatedAt, status) = dataset.query{value: msg.value}(key);
        _requireFresh(key, maxAge, updatedAt, status);
    }

    /// @notice Reads a key as `query` does, but in `view` and without a payment: while this contract is subscribed to
    /// the dataset, or queries cost nothing. Otherwise reverts with the dataset's `SubscriptionNeeded`.
    /// @param key As in `query`.
    /// @param maxAge As in `query`.
    /// @return output As in `query`.
    /// @return updatedAt As in `query`.
    /// @return status As in `query`.
    function read(bytes calldata key, uint256 maxAge)
        external
        view
        returns (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status)
    {
        (output, updatedAt, status) = dataset.read(key);
        _requireFresh(key, maxAge, updatedAt, status);
    }

    /// @inheritdoc IERC7412
    /// @dev The data is the calldata of `update`, `updateNotAvailable` or `updateBatch`. One that is not newer than
    /// what is stored changes nothing and does not revert, so that another sender may be faster. Anything else reverts
    /// with `UpdateCalldata.NotAnUpdate`, Ether with `NoFeeNeeded`, and a refused update with the dataset's error.
    function fulfillOracleQuery(bytes calldata signedOffchainData) external payable {
        if (msg.value != 0) revert NoFeeNeeded(msg.value);
        UpdateCalldata.requireUpdate(signedOffchainData);
        (bool isDone, bytes memory reason) = address(dataset).call(signedOffchainData);
        if (!isDone) LowLevelCall.bubbleRevert(reason);
    }

    function _requireFresh(bytes calldata key, uint256 maxAge, uint256 updatedAt, Oracle.QueryStatus status)
        private
        view
    {
        // There can be no update of a key that does not have the dataset's key form.
        if (status == Oracle.QueryStatus.INVALID || block.timestamp - updatedAt <= maxAge) return;
        revert OracleDataRequired(address(this), abi.encodeCall(IUpdateGateway.fetchUpdate, (dataset, key)));
    }
}
