// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Batch, Report, Update} from "./UpdateArguments.sol";

/// @notice Packs updates in plain Solidity, by the format that `IDataset` describes: the reference for what src/ reads.
/// @dev Packs what it is given, also if it is wrong. Where the bitmap of the signers names more of them than there are
/// reports, or fewer, what is left of the other list takes the place.
library ReferencePacking {
    function packValues(Update memory update) internal pure returns (bytes memory packed) {
        packed = bytes.concat(_start(1, update), _spelledOut(update.value));
        uint256 reported = 0;
        for (uint256 place = 0; place < _members(update); ++place) {
            if (_isReport(update.signers, place, reported, update.reports.length, update.absentees.length)) {
                Report memory report = update.reports[reported++];
                bytes memory value = report.content == update.value ? bytes(hex"ff") : _spelledOut(report.content);
                packed = bytes.concat(packed, value, report.r, report.vs);
            } else {
                packed = bytes.concat(packed, bytes20(update.absentees[place - reported]));
            }
        }
    }

    function packNoData(Update memory update) internal pure returns (bytes memory packed) {
        packed = _start(2, update);
        uint256 reported = 0;
        for (uint256 place = 0; place < _members(update); ++place) {
            if (_isReport(update.signers, place, reported, update.reports.length, update.absentees.length)) {
                Report memory report = update.reports[reported++];
                packed = bytes.concat(packed, report.r, report.vs);
            } else {
                packed = bytes.concat(packed, bytes20(update.absentees[place - reported]));
            }
        }
    }

    function packBatch(Batch memory batch) internal pure returns (bytes memory packed) {
        uint256 keys = batch.keyHashes.length;
        uint256 members = batch.rows.length + batch.absentees.length;
        packed = bytes.concat(
            _header(3, batch.timestamp, batch.toleranceBps, members, keys),
            abi.encodePacked(batch.keyHashes),
            batch.picks,
            _bitmap(batch.signers, members)
        );
        uint256 reported = 0;
        for (uint256 place = 0; place < members; ++place) {
            if (_isReport(batch.signers, place, reported, batch.rows.length, batch.absentees.length)) {
                packed = bytes.concat(packed, packRow(batch, reported++));
            } else {
                packed = bytes.concat(packed, bytes20(batch.absentees[place - reported]));
            }
        }
    }

    function packRow(Batch memory batch, uint256 row) internal pure returns (bytes memory packed) {
        bytes32[] memory values = batch.valuesOf(row);
        uint256 length = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            if (lengthOf(values[i]) > length) length = lengthOf(values[i]);
        }
        Report memory report = batch.rows[row];
        // forge-lint: disable-next-line(unsafe-typecast)
        packed = bytes.concat(bytes1(uint8(length)), _bitmap(uint256(report.content), values.length));
        for (uint256 i = 0; i < values.length; ++i) {
            packed = bytes.concat(packed, lowest(uint256(values[i]), length));
        }
        packed = bytes.concat(packed, report.r, report.vs);
    }

    /// @notice Returns the number of bytes without leading zeros.
    function lengthOf(bytes32 value) internal pure returns (uint256 length) {
        for (uint256 rest = uint256(value); rest != 0; rest >>= 8) {
            ++length;
        }
    }

    /// @notice Returns the lowest bytes of a number, the highest of them first.
    function lowest(uint256 number, uint256 length) internal pure returns (bytes memory result) {
        result = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            // forge-lint: disable-next-line(unsafe-typecast)
            result[length - 1 - i] = bytes1(uint8(number >> (8 * i)));
        }
    }

    function _start(uint256 kind, Update memory update) private pure returns (bytes memory) {
        return bytes.concat(
            _header(kind, update.timestamp, update.toleranceBps, _members(update), update.key.length),
            update.key,
            _bitmap(update.signers, _members(update))
        );
    }

    function _header(uint256 kind, uint256 timestamp, uint256 toleranceBps, uint256 members, uint256 size)
        private
        pure
        returns (bytes memory)
    {
        return bytes.concat(
            lowest(kind, 1), lowest(timestamp, 5), lowest(toleranceBps, 2), lowest(members, 1), lowest(size, 2)
        );
    }

    function _bitmap(uint256 bits, uint256 size) private pure returns (bytes memory) {
        return lowest(bits, (size + 7) / 8);
    }

    function _spelledOut(bytes32 value) private pure returns (bytes memory) {
        uint256 length = lengthOf(value);
        return bytes.concat(lowest(length, 1), lowest(uint256(value), length));
    }

    function _members(Update memory update) private pure returns (uint256) {
        return update.reports.length + update.absentees.length;
    }

    function _isReport(uint256 signers, uint256 place, uint256 reported, uint256 reports, uint256 absentees)
        private
        pure
        returns (bool)
    {
        if (place - reported == absentees) return true;
        return reported < reports && (signers >> place) & 1 == 1;
    }
}
