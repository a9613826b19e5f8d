// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {BATCH_TYPEHASH, ReportTemplate, ReportTemplateLibrary} from "../../src/types/ReportTemplate.sol";
import {recoverSigner} from "../utils/RecoverSigner.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

contract BatchVectorsTest is VectorFixture {
    function test_digest_matchesTheVectors() public {
        load("batches", "batches");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            vm.chainId(number(i, "chainId"));
            address dataset = account(i, "dataset");
            bytes[] memory keys = hexBytesArray(i, "keys");
            bytes32[] memory values = words(i, "values");
            (uint256 missing, uint256 timestamp) = (uint256(word(i, "missing")), number(i, "timestamp"));
            assertEq(
                ReferenceReports.batchDigest(dataset, keys, missing, values, timestamp),
                word(i, "digest"),
                text(i, "name")
            );

            bytes32[] memory keyHashes = new bytes32[](keys.length);
            for (uint256 k = 0; k < keys.length; ++k) {
                keyHashes[k] = keccak256(keys[k]);
            }
            ReportTemplate template = ReportTemplateLibrary.create(
                BATCH_TYPEHASH,
                ReferenceReports.domainSeparator(dataset),
                keccak256(abi.encodePacked(keyHashes)),
                0,
                timestamp
            );
            template.setMissing(bytes32(missing));
            assertEq(template.digest(keccak256(abi.encodePacked(values))), word(i, "digest"), text(i, "name"));
        }
    }

    function test_recover_matchesTheVectors() public {
        load("batches", "batches");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            bytes32 digest = word(i, "digest");
            assertEq(recoverSigner(digest, word(i, "r"), word(i, "vs")), account(i, "signer"), text(i, "name"));
            (uint8 v, bytes32 r, bytes32 s) = vm.sign(uint256(word(i, "privateKey")), digest);
            assertEq(abi.encodePacked(r, s, v), hexBytes(i, "signature"), text(i, "name"));
        }
    }
}
