// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {IDataset} from "../../src/interfaces/IDataset.sol";
import {Batch, Report, Update} from "./UpdateArguments.sol";

/// @notice Unpacks updates in plain Solidity, and reverts with the dataset's error for those that are not well-formed:
/// the reference for src/types/PackedUpdate.sol. `ReferencePacking` is its inverse.
/// @dev Checks neither signatures nor the round. Like a dataset, it reads zeros behind the end of an update until it has
/// found an error.
contract ReferenceUnpacking {
    uint256 private constant HEADER = 11;
    uint256 private constant WORD = 32;

    /// @param next The offset of the next item.
    struct Reader {
        bytes packed;
        uint256 next;
    }

    function unpackUpdate(bytes calldata packed, uint256 kind) external pure returns (Update memory update) {
        Reader memory reader = _open(packed, kind);
        update.timestamp = _take(reader, 5);
        update.toleranceBps = _take(reader, 2);
        uint256 members = _take(reader, 1);
        uint256 length = _take(reader, 2);
        _requireLength(reader, HEADER + length);
        update.key = packed[HEADER:HEADER + length];
        reader.next += length;
        uint256 count;
        (update.signers, count) = _takeSigners(reader, members);
        if (kind == 1) update.value = _takeValue(reader);
        (update.reports, update.absentees) = (new Report[](count), new address[](members - count));
        uint256 reported = 0;
        for (uint256 place = 0; place < members; ++place) {
            if ((update.signers >> place) & 1 == 0) {
                update.absentees[place - reported] = address(uint160(_take(reader, 20)));
            } else {
                bytes32 value = kind == 1 ? _takeReported(reader, update.value) : bytes32(0);
                update.reports[reported++] = _takeSignature(reader, value);
            }
        }
        _close(reader);
    }

    function unpackBatch(bytes calldata packed) external pure returns (Batch memory batch) {
        Reader memory reader = _open(packed, 3);
        _requireLength(reader, HEADER);
        batch.timestamp = _take(reader, 5);
        batch.toleranceBps = _take(reader, 2);
        uint256 members = _take(reader, 1);
        uint256 keys = _take(reader, 2);
        if (keys > 256) revert IDataset.TooManyKeys(keys, 256);
        (batch.keyHashes, batch.picks) = (new bytes32[](keys), new bytes(keys));
        for (uint256 i = 0; i < keys; ++i) {
            batch.keyHashes[i] = bytes32(_take(reader, WORD));
        }
        for (uint256 i = 0; i < keys; ++i) {
            batch.picks[i] = bytes1(uint8(_take(reader, 1)));
        }
        uint256 count;
        (batch.signers, count) = _takeSigners(reader, members);
        batch.rows = new Report[](count);
        batch.absentees = new address[](members - count);
        batch.values = new bytes32[](count * keys);
        uint256 reported = 0;
        for (uint256 place = 0; place < members; ++place) {
            if ((batch.signers >> place) & 1 == 0) {
                batch.absentees[place - reported] = address(uint160(_take(reader, 20)));
            } else {
                _takeRow(reader, batch, reported++);
            }
        }
        _close(reader);
    }

    function _takeRow(Reader memory reader, Batch memory batch, uint256 row) private pure {
        uint256 offset = reader.next;
        uint256 keys = batch.keyHashes.length;
        uint256 length = _take(reader, 1);
        uint256 missing = _number(reader, reader.next, (keys + 7) / 8);
        uint256 largest = 0;
        reader.next += (keys + 7) / 8;
        for (uint256 i = 0; i < keys && length <= WORD; ++i) {
            uint256 value = _take(reader, length);
            batch.values[row * keys + i] = bytes32(value);
            if (value > largest) largest = value;
        }
        bool isTooWide = length > WORD || (length != 0 && largest >> (8 * (length - 1)) == 0);
        if (isTooWide || missing >> keys != 0) {
            reader.next = offset + 1;
            _takeBitmap(reader, keys);
            if (length > WORD) revert IDataset.TooLong(length, WORD);
            _requireLength(reader, reader.next + keys * length);
            revert IDataset.LeadingZero(offset);
        }
        batch.rows[row] = _takeSignature(reader, bytes32(missing));
    }

    function _takeReported(Reader memory reader, bytes32 claimed) private pure returns (bytes32) {
        uint256 offset = reader.next;
        uint256 length = _number(reader, offset, 1);
        if (length == 0xff) {
            ++reader.next;
            return claimed;
        }
        if (length <= WORD && _number(reader, offset + 1, length) == uint256(claimed)) {
            _requireLength(reader, offset + 1);
            _requireLength(reader, offset + 1 + length);
            revert IDataset.RepeatedClaim(offset);
        }
        return _takeValue(reader);
    }

    function _takeValue(Reader memory reader) private pure returns (bytes32) {
        uint256 offset = reader.next;
        uint256 length = _take(reader, 1);
        bool hasLeadingZero = length != 0 && _number(reader, reader.next, 1) == 0;
        if (length > WORD || hasLeadingZero) {
            _requireLength(reader, offset + 1);
            if (length > WORD) revert IDataset.TooLong(length, WORD);
            _requireLength(reader, offset + 1 + length);
            revert IDataset.LeadingZero(offset);
        }
        return bytes32(_take(reader, length));
    }

    function _takeSignature(Reader memory reader, bytes32 content) private pure returns (Report memory report) {
        report.content = content;
        report.r = bytes32(_take(reader, WORD));
        report.vs = bytes32(_take(reader, WORD));
    }

    function _takeSigners(Reader memory reader, uint256 members) private pure returns (uint256 signers, uint256 count) {
        signers = _takeBitmap(reader, members);
        for (uint256 rest = signers; rest != 0; rest >>= 1) {
            count += rest & 1;
        }
        if (3 * count <= 2 * members) revert IDataset.NoQuorum(count, members - count);
    }

    function _takeBitmap(Reader memory reader, uint256 bits) private pure returns (uint256 bitmap) {
        bitmap = _take(reader, (bits + 7) / 8);
        _requireLength(reader, reader.next);
        if (bitmap >> bits != 0) revert IDataset.UnusedBits(bitmap, bits);
    }

    function _take(Reader memory reader, uint256 length) private pure returns (uint256 result) {
        result = _number(reader, reader.next, length);
        reader.next += length;
    }

    function _number(Reader memory reader, uint256 offset, uint256 length) private pure returns (uint256 result) {
        for (uint256 i = offset; i < offset + length; ++i) {
            result = (result << 8) | (i < reader.packed.length ? uint8(reader.packed[i]) : 0);
        }
    }

    function _open(bytes memory packed, uint256 expected) private pure returns (Reader memory reader) {
        reader.packed = packed;
        uint256 kind = _take(reader, 1);
        if (kind != expected) revert IDataset.WrongKind(kind, expected);
    }

    function _close(Reader memory reader) private pure {
        if (reader.next != reader.packed.length) revert IDataset.WrongLength(reader.packed.length, reader.next);
    }

    function _requireLength(Reader memory reader, uint256 length) private pure {
        if (length > reader.packed.length) revert IDataset.WrongLength(reader.packed.length, length);
    }
}
