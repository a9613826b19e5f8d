// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";

import {DatasetFixture} from "./utils/DatasetFixture.sol";
import {ReferenceReports} from "./utils/ReferenceReports.sol";

contract ReportDomainTest is DatasetFixture {
    /// The chain id is read at run time, for the reported domain and for accepted signatures.
    function testFuzz_eip712Domain_followsTheChainId(uint64 chainId) public {
        vm.assume(chainId != 0);
        vm.chainId(chainId);
        _assertDomain(chainId);
        validUpdate().send(dataset);
    }

    /// Rebuilds the separator from the ERC-5267 domain.
    function _assertDomain(uint256 chainId_) private view {
        (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        ) = IERC5267(address(dataset)).eip712Domain();
        assertEq(fields, bytes1(0x0f));
        assertEq(name, "Dataset Oracle");
        assertEq(version, "1");
        assertEq(chainId, chainId_);
        assertEq(verifyingContract, address(dataset));
        assertEq(salt, 0);
        assertEq(extensions.length, 0);
        bytes32 typehash =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        assertEq(
            keccak256(
                abi.encode(typehash, keccak256(bytes(name)), keccak256(bytes(version)), chainId, verifyingContract)
            ),
            ReferenceReports.domainSeparator(address(dataset))
        );
    }
}
