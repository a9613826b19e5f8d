// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Committee, CommitteeLibrary} from "../types/Committee.sol";
import {Cursor} from "../types/PackedUpdate.sol";
import {ReportTemplate, TEMPLATE} from "../types/ReportTemplate.sol";
import {ReportedValues} from "../types/ReportedValues.sol";
import {Signatures} from "./Signatures.sol";

/// @title SignedReports
/// @notice Takes the items of all members from a packed update, and shows the committee that they make: the signers that
/// the reports recover to, and the absentees.
/// @dev One function for each kind of update, so that the loop that updates of one key spend most of their gas in asks
/// nothing that it need not.
library SignedReports {
    uint256 private constant ADDRESS_SIZE = 20;
    uint256 private constant SIGNATURE_SIZE = 64;

    /// @dev The length of a value that is the claimed one.
    uint256 private constant CLAIMED = 0xff;

    uint256 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// @notice Takes reports with a value each.
    /// @param signers A bitmap of the members that reported, the first one in the lowest bit.
    /// @param claimed The claimed value.
    function takeValues(
        Cursor cursor,
        uint256 signers,
        Committee committee,
        uint256 members,
        bytes32 claimed,
        bytes calldata packed
    ) internal view returns (Cursor) {
        Cursor refused;
        uint256 place = ReportedValues.place();
        assembly ("memory-safe") {
            let target := place
            let seat := add(committee, 0x20)
            // The precompile does not write any output when it recovers no address. Beyond the calldata are zeros.
            calldatacopy(seat, calldatasize(), shl(5, members))
            // A bit above those of the members ends the loop.
            signers := or(signers, shl(members, 1))
            for {} gt(signers, 1) {
                signers := shr(1, signers)
                seat := add(seat, 0x20)
            } {
                if iszero(and(signers, 1)) {
                    mstore(seat, shr(96, calldataload(cursor)))
                    cursor := add(cursor, ADDRESS_SIZE)
                    continue
                }
                // The value, as `CursorLibrary.claim` takes it, or the claimed one.
                let value := claimed
                let length := byte(0, calldataload(cursor))
                cursor := add(cursor, 1)
                if xor(length, CLAIMED) {
                    // Through memory, or the compiler would read it again for every use.
                    calldatacopy(0x00, cursor, 0x20)
                    let content := mload(0x00)
                    value := shr(sub(256, shl(3, length)), content)
                    // No value has more than 32 bytes and, if it has one, the first must not be 0.
                    if or(eq(value, claimed), gt(length, shl(5, iszero(iszero(byte(0, content)))))) {
                        refused := sub(cursor, 1)
                        break
                    }
                    cursor := add(cursor, length)
                }
                mstore(target, value)
                target := add(target, 0x20)
                // The digest, as `ReportTemplate.digest` computes it.
                mstore(add(TEMPLATE, 0x60), value)
                mstore(add(TEMPLATE, 0xc2), keccak256(TEMPLATE, 0xa0))
                mstore(add(TEMPLATE, 0x100), keccak256(add(TEMPLATE, 0xa0), 0x42))
                // The signer, as `Signatures.recoverTo` writes it.
                let vs := calldataload(add(cursor, 0x20))
                let s := shr(1, shl(1, vs))
                mstore(add(TEMPLATE, 0x120), add(27, shr(255, vs)))
                mstore(add(TEMPLATE, 0x140), calldataload(cursor))
                mstore(add(TEMPLATE, 0x160), mul(s, iszero(gt(s, MAX_S))))
                pop(staticcall(gas(), 1, add(TEMPLATE, 0x100), 0x80, seat, 0x20))
                cursor := add(cursor, SIGNATURE_SIZE)
            }
        }
        if (Cursor.unwrap(refused) != 0) refused.refuse(claimed, packed);
        return cursor;
    }

    /// @notice Takes reports of "no data".
    function takeNoData(Cursor cursor, uint256 signers, Committee committee, uint256 members)
        internal
        view
        returns (Cursor)
    {
        unchecked {
            bytes32 digest = ReportTemplate.digest(0);
            for (uint256 place = 0; place < members; ++place) {
                if ((signers >> place) & 1 == 0) {
                    committee.setMember(place, cursor.number(ADDRESS_SIZE));
                    cursor = cursor.skip(ADDRESS_SIZE);
                } else {
                    Signatures.recoverTo(committee.seat(place), digest, cursor.word(), cursor.skip(32).word());
                    cursor = cursor.skip(SIGNATURE_SIZE);
                }
            }
            return cursor;
        }
    }

    /// @notice Takes the rows of a batch.
    function takeRows(Cursor cursor, uint256 signers, Committee committee, uint256 members, bytes calldata packed)
        internal
        view
        returns (Cursor)
    {
        Cursor refused;
        uint256 size = ReportedValues.rowSize();
        uint256 row = ReportedValues.place();
        uint256 seat = committee.seat(0);
        // A bit above those of the members ends the loop.
        // forge-lint: disable-next-line(incorrect-shift)
        signers |= 1 << members;
        unchecked {
            for (; signers > 1; signers >>= 1) {
                if (signers & 1 == 0) {
                    CommitteeLibrary.sit(seat, cursor.number(ADDRESS_SIZE));
                    cursor = cursor.skip(ADDRESS_SIZE);
                } else {
                    (Cursor next, uint256 end, bool isRefused) = cursor.row(size, row);
                    if (isRefused) {
                        refused = cursor;
                        break;
                    }
                    Signatures.recoverTo(
                        seat, ReportTemplate.digest(ReportTemplate.setRow(row, size)), next.word(), next.skip(32).word()
                    );
                    cursor = next.skip(SIGNATURE_SIZE);
                    row = end;
                }
                seat += 32;
            }
        }
        if (Cursor.unwrap(refused) != 0) refused.refuseRow(size >> 5, packed);
        return cursor;
    }
}
