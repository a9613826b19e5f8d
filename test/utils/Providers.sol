// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {Oracle} from "../../src/Oracle.sol";
import {IDataset, Report} from "../../src/interfaces/IDataset.sol";
import {ReferenceReports} from "./ReferenceReports.sol";

/// @notice The arguments of an update, apart from the function, so that a test can change one of them.
struct Update {
    bytes key;
    uint256 timestamp;
    uint256 toleranceBps;
    Report[] reports;
    address[] absentees;
    bytes places;
}

using UpdateLibrary for Update global;

library UpdateLibrary {
    function send(Update memory self, IDataset dataset) internal returns (bytes32, Oracle.QueryStatus) {
        return dataset.update(
            self.key, self.timestamp, self.toleranceBps, self.reports, self.absentees, self.places
        );
    }

    function sendNotAvailable(Update memory self, IDataset dataset) internal {
        dataset.updateNotAvailable(
            self.key, self.timestamp, self.toleranceBps, self.reports, self.absentees, self.places
        );
    }
}

/// @notice A committee of data providers with known keys. The first one to sign is the first in the committee's order.
contract Providers {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    uint256 public toleranceBps;
    address[] internal _members;
    uint256[] internal _privateKeys;

    constructor(uint256 size, uint256 toleranceBps_) {
        toleranceBps = toleranceBps_;
        for (uint256 i = 0; i < size; ++i) {
            _insert(uint256(keccak256(abi.encode("data provider", i))) >> 4);
        }
    }

    function members() external view returns (address[] memory) {
        return _members;
    }

    function privateKey(uint256 place) external view returns (uint256) {
        return _privateKeys[place];
    }

    /// @notice An update in which the committee's first `values.length` members report, and the others are absent.
    function report(IDataset dataset, bytes memory key, uint256 timestamp, uint256[] memory values)
        external
        view
        returns (Update memory)
    {
        return _sign(dataset, key, Oracle.QueryStatus.OK, timestamp, values);
    }

    /// @notice An update in which the committee's first `signers` members report "no data".
    function reportNoData(IDataset dataset, bytes memory key, uint256 timestamp, uint256 signers)
        external
        view
        returns (Update memory)
    {
        return _sign(dataset, key, Oracle.QueryStatus.NOT_AVAILABLE, timestamp, new uint256[](signers));
    }

    /// @notice One member's report.
    function sign(
        IDataset dataset,
        bytes memory key,
        Oracle.QueryStatus outcome,
        uint256 timestamp,
        uint256 value,
        uint256 place
    ) public view returns (Report memory) {
        bytes32 digest = ReferenceReports.digest(address(dataset), key, outcome, bytes32(value), timestamp);
        (bytes32 r, bytes32 vs) = VM.signCompact(_privateKeys[place], digest);
        return Report({value: bytes32(value), r: r, vs: vs});
    }

    function _sign(
        IDataset dataset,
        bytes memory key,
        Oracle.QueryStatus outcome,
        uint256 timestamp,
        uint256[] memory values
    ) private view returns (Update memory self) {
        uint256 signers = values.length;
        self.key = key;
        self.timestamp = timestamp;
        self.toleranceBps = toleranceBps;
        self.reports = new Report[](signers);
        self.absentees = new address[](_members.length - signers);
        self.places = new bytes(_members.length);
        uint256[] memory order = _ascending(values);
        for (uint256 i = 0; i < signers; ++i) {
            self.reports[i] = sign(dataset, key, outcome, timestamp, values[order[i]], order[i]);
            self.places[i] = bytes1(uint8(order[i]));
        }
        for (uint256 place = signers; place < _members.length; ++place) {
            self.absentees[place - signers] = _members[place];
            self.places[place] = bytes1(uint8(place));
        }
    }

    /// @return order The places of `values`, ascending by value; equal values in their order.
    function _ascending(uint256[] memory values) private pure returns (uint256[] memory order) {
        order = new uint256[](values.length);
        for (uint256 i = 0; i < values.length; ++i) {
            uint256 at = i;
            while (at > 0 && values[order[at - 1]] > values[i]) {
                order[at] = order[at - 1];
                --at;
            }
            order[at] = i;
        }
    }

    function _insert(uint256 key) private {
        address member = VM.addr(key);
        _members.push();
        _privateKeys.push();
        uint256 at = _members.length - 1;
        while (at > 0 && _members[at - 1] > member) {
            _members[at] = _members[at - 1];
            _privateKeys[at] = _privateKeys[at - 1];
            --at;
        }
        _members[at] = member;
        _privateKeys[at] = key;
    }
}
