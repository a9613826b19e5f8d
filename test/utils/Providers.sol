// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {Oracle} from "../../src/Oracle.sol";
import {IDataset, Report} from "../../src/interfaces/IDataset.sol";
import {ReferenceMedian} from "./ReferenceMedian.sol";
import {ReferenceReports} from "./ReferenceReports.sol";

/// @notice The arguments of an update, so that a test can change one of them.
struct Update {
    bytes key;
    uint256 timestamp;
    bytes32 value;
    uint256 toleranceBps;
    uint256 signers;
    Report[] reports;
    address[] absentees;
}

using UpdateLibrary for Update global;

library UpdateLibrary {
    function send(Update memory self, IDataset dataset) internal returns (Oracle.QueryStatus) {
        return dataset.update(
            self.key, self.timestamp, self.value, self.toleranceBps, self.signers, self.reports, self.absentees
        );
    }

    function sendNotAvailable(Update memory self, IDataset dataset) internal {
        dataset.updateNotAvailable(
            self.key, self.timestamp, self.toleranceBps, self.signers, self.reports, self.absentees
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
        return _sign(dataset, key, Oracle.QueryStatus.OK, timestamp, values, 2 ** values.length - 1);
    }

    /// @notice An update in which the members at the places in `signers` report, in the committee's order.
    function reportFrom(uint256 signers, IDataset dataset, bytes memory key, uint256 timestamp, uint256[] memory values)
        external
        view
        returns (Update memory)
    {
        return _sign(dataset, key, Oracle.QueryStatus.OK, timestamp, values, signers);
    }

    /// @notice An update in which the committee's first `signers` members report "no data".
    function reportNoData(IDataset dataset, bytes memory key, uint256 timestamp, uint256 signers)
        external
        view
        returns (Update memory)
    {
        return
            _sign(dataset, key, Oracle.QueryStatus.NOT_AVAILABLE, timestamp, new uint256[](signers), 2 ** signers - 1);
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
        uint256[] memory values,
        uint256 signers
    ) private view returns (Update memory self) {
        self.key = key;
        self.timestamp = timestamp;
        self.toleranceBps = toleranceBps;
        self.value = bytes32(ReferenceMedian.median(values));
        self.signers = signers;
        self.reports = new Report[](values.length);
        self.absentees = new address[](_members.length - values.length);
        uint256 reported = 0;
        for (uint256 place = 0; place < _members.length; ++place) {
            if ((signers >> place) & 1 == 0) {
                self.absentees[place - reported] = _members[place];
            } else {
                self.reports[reported] = sign(dataset, key, outcome, timestamp, values[reported], place);
                ++reported;
            }
        }
    }

    function _insert(uint256 key) private {
        address member = VM.addr(key);
        _members.push();
        _privateKeys.push();
        uint256 seat = _members.length - 1;
        while (seat > 0 && _members[seat - 1] > member) {
            _members[seat] = _members[seat - 1];
            _privateKeys[seat] = _privateKeys[seat - 1];
            --seat;
        }
        _members[seat] = member;
        _privateKeys[seat] = key;
    }
}
