// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {IDataset} from "./IDataset.sol";

/// @title IUpdateGateway
/// @notice The question that a lens asks its gateways (ERC-3668). No contract implements it: operators answer it over
/// HTTP.
interface IUpdateGateway {
    /// @notice Returns an update of a key, made of reports that the committee signed just now.
    /// @param dataset The dataset whose committee signs.
    /// @param key The key in ASCII.
    /// @return update A packed update of the key, as `IDataset` describes it. Its signatures prove it: nobody has to
    /// trust the gateway.
    function fetchUpdate(IDataset dataset, bytes calldata key) external view returns (bytes memory update);
}
