// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {CommonBase} from "forge-std/Base.sol";

import {Oracle} from "../../src/Oracle.sol";
import {IDataset} from "../../src/interfaces/IDataset.sol";
import {ReferenceMedian} from "./ReferenceMedian.sol";
import {ReferenceReports} from "./ReferenceReports.sol";
import {Batch, Report, Update} from "./UpdateArguments.sol";

/// @notice A committee of data providers with known keys. They sign in committee order.
contract Providers is CommonBase {
    uint256 public toleranceBps;
    address[] internal _members;
    uint256[] internal _privateKeys;

    constructor(uint256 size, uint256 toleranceBps_) {
        toleranceBps = toleranceBps_;
        (address[] memory accounts, uint256[] memory keys) = (new address[](size), new uint256[](size));
        for (uint256 i = 0; i < size; ++i) {
            uint256 key = uint256(keccak256(abi.encode("data provider", i))) >> 4;
            address account = vm.addr(key);
            uint256 place = i;
            for (; place > 0 && accounts[place - 1] > account; --place) {
                (accounts[place], keys[place]) = (accounts[place - 1], keys[place - 1]);
            }
            (accounts[place], keys[place]) = (account, key);
        }
        (_members, _privateKeys) = (accounts, keys);
    }

    function members() external view returns (address[] memory) {
        return _members;
    }

    function privateKey(uint256 place) external view returns (uint256) {
        return _privateKeys[place];
    }

    /// @notice Returns an update in which the committee's first `values.length` members report and the others are
    /// absent.
    function report(IDataset dataset, bytes memory key, uint256 timestamp, uint256[] memory values)
        external
        view
        returns (Update memory)
    {
        return _sign(dataset, key, Oracle.QueryStatus.OK, timestamp, values, 2 ** values.length - 1);
    }

    /// @notice Returns an update in which the members in the bitmap `signers` report, in committee order.
    function reportFrom(uint256 signers, IDataset dataset, bytes memory key, uint256 timestamp, uint256[] memory values)
        external
        view
        returns (Update memory)
    {
        return _sign(dataset, key, Oracle.QueryStatus.OK, timestamp, values, signers);
    }

    /// @notice Returns an update in which the committee's first `signers` members report "no data".
    function reportNoData(IDataset dataset, bytes memory key, uint256 timestamp, uint256 signers)
        external
        view
        returns (Update memory)
    {
        return
            _sign(dataset, key, Oracle.QueryStatus.NOT_AVAILABLE, timestamp, new uint256[](signers), 2 ** signers - 1);
    }

    /// @notice Returns an update in which the `count` members in the bitmap `signers` report "no data".
    function reportNoDataFrom(uint256 signers, uint256 count, IDataset dataset, bytes memory key, uint256 timestamp)
        external
        view
        returns (Update memory)
    {
        return _sign(dataset, key, Oracle.QueryStatus.NOT_AVAILABLE, timestamp, new uint256[](count), signers);
    }

    /// @notice Returns a batch in which the committee's first `rows.length` members report and the others are absent.
    /// Each row has a value for each key; `missing` has a bit for each key that the row has no data for.
    function reportMany(
        IDataset dataset,
        bytes[] memory keys,
        uint256 timestamp,
        bytes32[][] memory rows,
        uint256[] memory missing
    ) external view returns (Batch memory) {
        return reportManyFrom(2 ** rows.length - 1, dataset, keys, timestamp, rows, missing);
    }

    /// @notice Returns a batch in which the members in the bitmap `signers` report, in committee order.
    function reportManyFrom(
        uint256 signers,
        IDataset dataset,
        bytes[] memory keys,
        uint256 timestamp,
        bytes32[][] memory rows,
        uint256[] memory missing
    ) public view returns (Batch memory batch) {
        batch.timestamp = timestamp;
        batch.toleranceBps = toleranceBps;
        batch.signers = signers;
        batch.keyHashes = new bytes32[](keys.length);
        batch.rows = new Report[](rows.length);
        batch.values = new bytes32[](rows.length * keys.length);
        batch.picks = new bytes(keys.length);
        batch.absentees = new address[](_members.length - rows.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            batch.keyHashes[i] = keccak256(keys[i]);
            batch.picks[i] = bytes1(bytes32(_medianRow(rows, missing, i) << 248));
            for (uint256 row = 0; row < rows.length; ++row) {
                batch.values[row * keys.length + i] = rows[row][i];
            }
        }
        uint256 reported = 0;
        for (uint256 place = 0; place < _members.length; ++place) {
            if ((signers >> place) & 1 == 0) {
                batch.absentees[place - reported] = _members[place];
            } else {
                batch.rows[reported] = signRow(dataset, keys, missing[reported], rows[reported], timestamp, place);
                ++reported;
            }
        }
    }

    /// @notice Returns one member's row of a batch.
    function signRow(
        IDataset dataset,
        bytes[] memory keys,
        uint256 missing,
        bytes32[] memory values,
        uint256 timestamp,
        uint256 place
    ) public view returns (Report memory) {
        bytes32 digest = ReferenceReports.batchDigest(address(dataset), keys, missing, values, timestamp);
        (bytes32 r, bytes32 vs) = vm.signCompact(_privateKeys[place], digest);
        return Report({content: bytes32(missing), r: r, vs: vs});
    }

    /// @return The index of the row with the lower median of a key's values; 0 if there are none.
    function _medianRow(bytes32[][] memory rows, uint256[] memory missing, uint256 key) private pure returns (uint256) {
        uint256 present = 0;
        uint256[] memory values = new uint256[](rows.length);
        for (uint256 row = 0; row < rows.length; ++row) {
            if ((missing[row] >> key) & 1 == 0) values[present++] = uint256(rows[row][key]);
        }
        assembly ("memory-safe") {
            mstore(values, present)
        }
        bytes32 median = bytes32(ReferenceMedian.median(values));
        for (uint256 row = 0; row < rows.length; ++row) {
            if ((missing[row] >> key) & 1 == 0 && rows[row][key] == median) return row;
        }
        return 0;
    }

    /// @notice Returns one member's report.
    function sign(
        IDataset dataset,
        bytes memory key,
        Oracle.QueryStatus outcome,
        uint256 timestamp,
        uint256 value,
        uint256 place
    ) public view returns (Report memory) {
        bytes32 digest = ReferenceReports.digest(address(dataset), key, outcome, bytes32(value), timestamp);
        (bytes32 r, bytes32 vs) = vm.signCompact(_privateKeys[place], digest);
        return Report({content: bytes32(value), r: r, vs: vs});
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
}
