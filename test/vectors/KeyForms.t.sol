// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {KeyForm, KeyFormLibrary} from "../../src/types/KeyForm.sol";
import {VectorFixture} from "../utils/VectorFixture.sol";

contract KeyVectorsTest is VectorFixture {
    using KeyFormLibrary for KeyForm;

    function test_matches_agreesWithTheVectors() public {
        load("keys", "forms");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            bytes memory key = hexBytes(i, "key");
            assertEq(KeyForm.SPOT_PRICE.matches(key), flag(i, "SPOT_PRICE"), text(i, "name"));
            assertEq(KeyForm.WEB_ORACLE.matches(key), flag(i, "WEB_ORACLE"), text(i, "name"));
        }
    }

    /// A key's ASCII form and its hex form are the same bytes to Solidity.
    function test_texts_areTheirBytes() public {
        load("keys", "texts");
        uint256 items = count();
        for (uint256 i = 0; i < items; ++i) {
            if (!has(i, "hex")) continue;
            bytes memory ascii = bytes(text(i, "text"));
            bool isHex = ascii.length > 1 && ascii[0] == "0" && ascii[1] == "x";
            assertEq(isHex ? vm.parseBytes(string(ascii)) : ascii, hexBytes(i, "hex"));
        }
    }
}
