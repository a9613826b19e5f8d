// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Oracle} from "../../src/Oracle.sol";
import {REPORT_TYPEHASH, ReportTemplateLibrary} from "../../src/types/ReportTemplate.sol";
import {recoverSigner} from "../utils/RecoverSigner.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

contract ReportVectorsTest is VectorFixture {
    function test_digest_matchesTheVectors() public {
        load("reports", "reports");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            vm.chainId(number(i, "chainId"));
            address dataset = account(i, "dataset");
            bytes memory key = hexBytes(i, "key");
            Oracle.QueryStatus outcome = Oracle.QueryStatus(number(i, "outcome"));
            uint256 timestamp = number(i, "timestamp");
            bytes32 value = word(i, "value");
            bytes32 separator = word(i, "domainSeparator");

            assertEq(ReferenceReports.domainSeparator(dataset), separator, text(i, "name"));
            assertEq(
                ReferenceReports.digest(dataset, key, outcome, value, timestamp), word(i, "digest"), text(i, "name")
            );
            assertEq(
                ReportTemplateLibrary.create(REPORT_TYPEHASH, separator, keccak256(key), uint256(outcome), timestamp)
                    .digest(value),
                word(i, "digest"),
                text(i, "name")
            );
        }
    }

    function test_recover_matchesTheVectors() public {
        load("reports", "reports");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            (bytes32 digest, bytes32 r, bytes32 vs) = (word(i, "digest"), word(i, "r"), word(i, "vs"));
            assertEq(recoverSigner(digest, r, vs), account(i, "signer"), text(i, "name"));
            assertEq(ReferenceReports.recover(digest, r, vs), account(i, "signer"), text(i, "name"));

            uint256 privateKey = uint256(word(i, "privateKey"));
            assertEq(vm.addr(privateKey), account(i, "signer"), text(i, "name"));
            (uint8 v, bytes32 r_, bytes32 s) = vm.sign(privateKey, digest);
            assertEq(abi.encodePacked(r_, s, v), hexBytes(i, "signature"), text(i, "name"));
        }
    }

    /// Covers the invalid signatures that have a compact form: all are corrupted signatures of the first report.
    function test_recover_returnsZeroWhereTheVectorsRefuse() public {
        load("reports", "reports");
        bytes32 digest = word(0, "digest");
        load("reports", "refused");
        uint256 items = count();
        uint256 seen = 0;
        for (uint256 i = 0; i < items; ++i) {
            if (!has(i, "vs")) continue;
            ++seen;
            assertEq(recoverSigner(digest, word(i, "r"), word(i, "vs")), address(0), text(i, "name"));
        }
        assertGt(seen, 0);
    }
}
