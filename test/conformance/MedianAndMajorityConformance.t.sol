// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {DatasetConformance} from "./DatasetConformance.sol";

contract MedianConformanceTest is DatasetConformance {
    function kind() internal pure override returns (string memory) {
        return MEDIAN;
    }
}

contract MajorityConformanceTest is DatasetConformance {
    function kind() internal pure override returns (string memory) {
        return MAJORITY;
    }
}
