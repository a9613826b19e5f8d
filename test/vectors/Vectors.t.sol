// SPDX-License-Identifier: MIT
pragma solidity ^0.8.37;

import {Test} from "forge-std/Test.sol";

import {Oracle} from "../../src/Oracle.sol";
import {ICommitteeDirectory} from "../../src/interfaces/ICommitteeDirectory.sol";
import {DatasetSettings, IDataset} from "../../src/interfaces/IDataset.sol";
import {Quorum} from "../../src/libraries/Quorum.sol";
import {Committee, CommitteeLibrary} from "../../src/types/Committee.sol";
import {KeyForm, KeyFormLibrary} from "../../src/types/KeyForm.sol";
import {ReferencePacking} from "../utils/ReferencePacking.sol";
import {recoverSigner} from "../utils/RecoverSigner.sol";
import {ReferenceAnnouncements} from "../utils/ReferenceAnnouncements.sol";
import {ReferenceReports} from "../utils/ReferenceReports.sol";
import {ReportTemplateUser} from "../utils/ReportTemplateUser.sol";
import {Batch, Report, Update} from "../utils/UpdateArguments.sol";

/// @notice Reads the vectors in protocol/vectors, which the TypeScript tests use too.
abstract contract VectorFixture is Test {
    string private _json;
    string private _list;

    function load(string memory file, string memory list) internal returns (uint256 items) {
        _json = vm.readFile(string.concat("protocol/vectors/", file, ".json"));
        _list = list;
        while (vm.keyExistsJson(_json, _item(items))) ++items;
        assertGt(items, 0, "the list is empty");
    }

    function has(uint256 index, string memory field) internal view returns (bool) {
        return vm.keyExistsJson(_json, _path(index, field));
    }

    function text(uint256 index, string memory field) internal view returns (string memory) {
        return vm.parseJsonString(_json, _path(index, field));
    }

    function hexBytes(uint256 index, string memory field) internal view returns (bytes memory) {
        return vm.parseJsonBytes(_json, _path(index, field));
    }

    function hexBytesArray(uint256 index, string memory field) internal view returns (bytes[] memory) {
        return vm.parseJsonBytesArray(_json, _path(index, field));
    }

    function words(uint256 index, string memory field) internal view returns (bytes32[] memory) {
        return vm.parseJsonBytes32Array(_json, _path(index, field));
    }

    function word(uint256 index, string memory field) internal view returns (bytes32) {
        return vm.parseJsonBytes32(_json, _path(index, field));
    }

    function number(uint256 index, string memory field) internal view returns (uint256) {
        return vm.parseJsonUint(_json, _path(index, field));
    }

    function numbers(uint256 index, string memory field) internal view returns (uint256[] memory) {
        return vm.parseJsonUintArray(_json, _path(index, field));
    }

    function flag(uint256 index, string memory field) internal view returns (bool) {
        return vm.parseJsonBool(_json, _path(index, field));
    }

    function account(uint256 index, string memory field) internal view returns (address) {
        return vm.parseJsonAddress(_json, _path(index, field));
    }

    function accounts(uint256 index, string memory field) internal view returns (address[] memory) {
        return vm.parseJsonAddressArray(_json, _path(index, field));
    }

    /// @notice Deploys the dataset that an update is for, and that is empty: all updates are for the same address.
    /// @param before The snapshot of the state before any was deployed.
    function redeploy(uint256 index, uint256 before) internal returns (IDataset) {
        vm.revertToState(before);
        return deploy(index);
    }

    /// @notice Deploys the dataset that an update is for, to its address.
    function deploy(uint256 index) internal returns (IDataset) {
        vm.chainId(number(index, "chainId"));
        vm.warp(number(index, "timestamp"));
        address dataset = account(index, "dataset");
        DatasetSettings memory settings = DatasetSettings({
            owner: makeAddr("owner"),
            keyForm: has(index, "keyForm") ? KeyForm(number(index, "keyForm")) : KeyForm.SPOT_PRICE,
            maxRoundAge: 300,
            priceCeiling: 0,
            queryPrice: 0,
            subscriptionPriceCeiling: 0,
            subscriptionPrice: 0,
            toleranceBps: number(index, "toleranceBps"),
            members: accounts(index, "members")
        });
        string memory artifact =
            flag(index, "isMedian") ? "MedianDataset.sol:MedianDataset" : "MajorityDataset.sol:MajorityDataset";
        deployCodeTo(artifact, abi.encode(settings), dataset);
        return IDataset(dataset);
    }

    function _item(uint256 index) private view returns (string memory) {
        return string.concat(".", _list, "[", vm.toString(index), "]");
    }

    function _path(uint256 index, string memory field) private view returns (string memory) {
        return string.concat(_item(index), ".", field);
    }
}

contract QuorumVectorsTest is VectorFixture {
    function test_isReached_matchesTheVectors() public {
        uint256 items = load("quorum", "counts");
        for (uint256 i = 0; i < items; ++i) {
            uint256 signers = number(i, "signers");
            assertEq(Quorum.isReached(signers, number(i, "members") - signers), flag(i, "quorum"));
        }
    }

    function test_faultBound_matchesTheVectors() public {
        uint256 items = load("quorum", "faultBounds");
        for (uint256 i = 0; i < items; ++i) {
            assertEq(Quorum.faultBound(number(i, "members")), number(i, "faults"));
        }
    }
}

contract CommitteeVectorsTest is VectorFixture {
    function test_hash_matchesTheVectors() public {
        uint256 items = load("committees", "committees");
        for (uint256 i = 0; i < items; ++i) {
            address[] memory members = accounts(i, "members");
            uint256 toleranceBps = number(i, "toleranceBps");
            bytes32 hash = word(i, "hash");
            assertEq(CommitteeLibrary.checkedHash(members, toleranceBps), hash, text(i, "name"));

            Committee committee = CommitteeLibrary.create(toleranceBps, members.length);
            for (uint256 place = 0; place < members.length; ++place) {
                committee.setMember(place, uint160(members[place]));
            }
            assertEq(committee.hash(members.length), hash, text(i, "name"));
        }
    }
}

contract KeyVectorsTest is VectorFixture {
    using KeyFormLibrary for KeyForm;

    function test_matches_agreesWithTheVectors() public {
        uint256 items = load("keys", "forms");
        for (uint256 i = 0; i < items; ++i) {
            bytes memory key = hexBytes(i, "key");
            assertEq(KeyForm.SPOT_PRICE.matches(key), flag(i, "SPOT_PRICE"), text(i, "name"));
            assertEq(KeyForm.WEB_ORACLE.matches(key), flag(i, "WEB_ORACLE"), text(i, "name"));
        }
    }
}

contract ReportVectorsTest is VectorFixture {
    ReportTemplateUser private user = new ReportTemplateUser();

    function test_digest_matchesTheVectors() public {
        uint256 items = load("reports", "reports");
        for (uint256 i = 0; i < items; ++i) {
            vm.chainId(number(i, "chainId"));
            address dataset = account(i, "dataset");
            bytes memory key = hexBytes(i, "key");
            Oracle.QueryStatus outcome = Oracle.QueryStatus(number(i, "outcome"));
            uint256 timestamp = number(i, "timestamp");
            bytes32 value = word(i, "value");
            bytes32 separator = word(i, "domainSeparator");
            bytes32[] memory values = new bytes32[](1);
            values[0] = value;

            assertEq(ReferenceReports.domainSeparator(dataset), separator, text(i, "name"));
            assertEq(
                ReferenceReports.digest(dataset, key, outcome, value, timestamp), word(i, "digest"), text(i, "name")
            );
            assertEq(
                user.digests(separator, keccak256(key), uint256(outcome), timestamp, values)[0],
                word(i, "digest"),
                text(i, "name")
            );
        }
    }

    function test_recover_matchesTheVectors() public {
        uint256 items = load("reports", "reports");
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
        uint256 items = load("reports", "refused");
        uint256 seen = 0;
        for (uint256 i = 0; i < items; ++i) {
            if (!has(i, "vs")) continue;
            ++seen;
            assertEq(recoverSigner(digest, word(i, "r"), word(i, "vs")), address(0), text(i, "name"));
        }
        assertGt(seen, 0);
    }
}

contract BatchVectorsTest is VectorFixture {
    ReportTemplateUser private user = new ReportTemplateUser();

    function test_digest_matchesTheVectors() public {
        uint256 items = load("batches", "batches");
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
            bytes32[][] memory rows = new bytes32[][](1);
            rows[0] = new bytes32[](1 + values.length);
            rows[0][0] = bytes32(missing);
            for (uint256 k = 0; k < values.length; ++k) {
                rows[0][1 + k] = values[k];
            }
            bytes32[] memory digests = user.rowDigests(
                ReferenceReports.domainSeparator(dataset), keccak256(abi.encodePacked(keyHashes)), timestamp, rows
            );
            assertEq(digests[0], word(i, "digest"), text(i, "name"));
        }
    }

    function test_recover_matchesTheVectors() public {
        uint256 items = load("batches", "batches");
        for (uint256 i = 0; i < items; ++i) {
            bytes32 digest = word(i, "digest");
            assertEq(recoverSigner(digest, word(i, "r"), word(i, "vs")), account(i, "signer"), text(i, "name"));
            (uint8 v, bytes32 r, bytes32 s) = vm.sign(uint256(word(i, "privateKey")), digest);
            assertEq(abi.encodePacked(r, s, v), hexBytes(i, "signature"), text(i, "name"));
        }
    }
}

/// @notice Sends updates that TypeScript encoded to the dataset that they are for.
contract UpdateVectorsTest is VectorFixture {
    function test_update_storesTheValuesOfTheVectors() public {
        uint256 items = load("updates", "updates");
        uint256 before = vm.snapshotState();
        for (uint256 i = 0; i < items; ++i) {
            IDataset dataset = redeploy(i, before);
            uint256 keys = 0;
            for (; has(i, inKey(keys, "key")); ++keys) {
                dataset.announce(hexBytes(i, inKey(keys, "key")));
            }
            assertGt(keys, 0, text(i, "name"));

            (bool isDone, bytes memory answer) = address(dataset).call(hexBytes(i, "data"));
            assertTrue(isDone, string.concat(text(i, "name"), ": ", vm.toString(answer)));
            for (uint256 k = 0; k < keys; ++k) {
                (bytes32 value, uint256 updatedAt, Oracle.QueryStatus status) =
                    dataset.query(hexBytes(i, inKey(k, "key")));
                assertEq(updatedAt, flag(i, inKey(k, "isStored")) ? number(i, "timestamp") : 0, text(i, "name"));
                assertEq(uint256(status), number(i, inKey(k, "status")), text(i, "name"));
                assertEq(value, word(i, inKey(k, "value")), text(i, "name"));
            }
        }
    }

    function inKey(uint256 key, string memory field) private pure returns (string memory) {
        return string.concat("keys[", vm.toString(key), "].", field);
    }
}

/// @notice Packed updates, and faults of them, for both languages.
contract PackedUpdateVectorsTest is VectorFixture {
    function test_update_storesAndVerifiesTheVectors() public {
        uint256 items = load("packed-updates", "updates");
        uint256 before = vm.snapshotState();
        for (uint256 i = 0; i < items; ++i) {
            IDataset dataset = redeploy(i, before);
            bytes memory packed = hexBytes(i, "packed");
            bool isOfValues = number(i, "kind") == 1;
            assertEq(_pack(i), packed, text(i, "name"));

            bytes32 output;
            uint256 updatedAt;
            Oracle.QueryStatus status;
            Oracle.QueryStatus stored;
            if (isOfValues) {
                (output, updatedAt, status) = dataset.verify(packed);
                (stored,) = dataset.update(packed);
            } else {
                (output, updatedAt, status) = dataset.verifyNotAvailable(packed);
                (stored,) = dataset.updateNotAvailable(packed);
            }
            (bytes32 output_, uint256 updatedAt_, Oracle.QueryStatus status_) = dataset.query(hexBytes(i, "key"));
            assertEq(updatedAt, number(i, "timestamp"), text(i, "name"));
            assertEq(uint256(status), uint256(stored), text(i, "name"));
            if (!isOfValues) assertEq(uint256(status), uint256(Oracle.QueryStatus.NOT_AVAILABLE), text(i, "name"));
            if (status == Oracle.QueryStatus.OK) assertEq(output, word(i, "claim"), text(i, "name"));
            else assertEq(output, 0, text(i, "name"));
            assertEq(abi.encode(output_, updatedAt_, status_), abi.encode(output, updatedAt, status), text(i, "name"));
        }
    }

    function test_updateBatch_storesTheVectors() public {
        uint256 items = load("packed-updates", "batches");
        uint256 before = vm.snapshotState();
        for (uint256 i = 0; i < items; ++i) {
            IDataset dataset = redeploy(i, before);
            bytes memory packed = hexBytes(i, "packed");
            assertEq(_packBatch(i), packed, text(i, "name"));
            bytes[] memory keys = hexBytesArray(i, "keys");
            for (uint256 k = 0; k < keys.length; ++k) {
                dataset.announce(keys[k]);
            }
            IDataset.KeyOutcome[] memory outcomes = dataset.updateBatch(packed);
            assertEq(outcomes.length, keys.length, text(i, "name"));
            for (uint256 k = 0; k < keys.length; ++k) {
                (, uint256 updatedAt,) = dataset.query(keys[k]);
                bool isStored = outcomes[k] == IDataset.KeyOutcome.STORED;
                assertEq(updatedAt, isStored ? number(i, "timestamp") : 0, text(i, "name"));
            }
        }
    }

    function test_everyFunction_refusesTheFaultsOfTheVectors() public {
        uint256 items = load("packed-updates", "faults");
        uint256 before = vm.snapshotState();
        for (uint256 i = 0; i < items; ++i) {
            IDataset dataset = redeploy(i, before);
            bytes memory packed = hexBytes(i, "packed");
            uint256 kind = number(i, "kind");
            if (kind == 3) {
                _assertRefused(i, dataset, IDataset.updateBatch.selector, packed);
            } else {
                bool isOfValues = kind == 1;
                _assertRefused(
                    i, dataset, isOfValues ? IDataset.update.selector : IDataset.updateNotAvailable.selector, packed
                );
                _assertRefused(
                    i, dataset, isOfValues ? IDataset.verify.selector : IDataset.verifyNotAvailable.selector, packed
                );
            }
        }
    }

    function _assertRefused(uint256 index, IDataset dataset, bytes4 selector, bytes memory packed) private {
        (bool isDone, bytes memory reason) = address(dataset).call(abi.encodeWithSelector(selector, packed));
        assertFalse(isDone, text(index, "name"));
        bytes memory expected = bytes.concat(_selector(text(index, "error")), abi.encodePacked(numbers(index, "args")));
        assertEq(reason, expected, text(index, "name"));
    }

    function _selector(string memory name) private pure returns (bytes4) {
        bytes32 hash = keccak256(bytes(name));
        if (hash == keccak256("WrongKind")) return IDataset.WrongKind.selector;
        if (hash == keccak256("WrongLength")) return IDataset.WrongLength.selector;
        if (hash == keccak256("UnusedBits")) return IDataset.UnusedBits.selector;
        if (hash == keccak256("TooLong")) return IDataset.TooLong.selector;
        if (hash == keccak256("LeadingZero")) return IDataset.LeadingZero.selector;
        if (hash == keccak256("RepeatedClaim")) return IDataset.RepeatedClaim.selector;
        if (hash == keccak256("TooManyKeys")) return IDataset.TooManyKeys.selector;
        revert(string.concat("unknown error ", name));
    }

    /// @dev Packs what the vector says with the plain twin.
    function _pack(uint256 index) private view returns (bytes memory) {
        Update memory update;
        update.key = hexBytes(index, "key");
        update.timestamp = number(index, "timestamp");
        update.toleranceBps = number(index, "toleranceBps");
        update.signers = uint256(word(index, "signers"));
        update.absentees = accounts(index, "absentees");
        bool isOfValues = number(index, "kind") == 1;
        bytes32[] memory contents = isOfValues ? words(index, "values") : new bytes32[](words(index, "r").length);
        update.reports = _reports(index, contents);
        if (!isOfValues) return ReferencePacking.packNoData(update);
        update.value = word(index, "claim");
        return ReferencePacking.packValues(update);
    }

    function _packBatch(uint256 index) private view returns (bytes memory) {
        Batch memory batch;
        batch.keyHashes = words(index, "keyHashes");
        batch.picks = hexBytes(index, "picks");
        batch.timestamp = number(index, "timestamp");
        batch.toleranceBps = number(index, "toleranceBps");
        batch.values = words(index, "values");
        batch.signers = uint256(word(index, "signers"));
        batch.absentees = accounts(index, "absentees");
        batch.rows = _reports(index, words(index, "missing"));
        return ReferencePacking.packBatch(batch);
    }

    function _reports(uint256 index, bytes32[] memory contents) private view returns (Report[] memory reports) {
        (bytes32[] memory r, bytes32[] memory vs) = (words(index, "r"), words(index, "vs"));
        reports = new Report[](r.length);
        for (uint256 i = 0; i < r.length; ++i) {
            reports[i] = Report({content: contents[i], r: r[i], vs: vs[i]});
        }
    }
}

contract AnnouncementVectorsTest is VectorFixture {
    function test_announce_acceptsTheVectors() public {
        uint256 items = load("announcements", "announcements");
        for (uint256 i = 0; i < items; ++i) {
            vm.chainId(number(i, "chainId"));
            bytes memory signature = hexBytes(i, "signature");
            assertEq(_digest(i), word(i, "digest"), text(i, "name"));
            (uint8 v, bytes32 r, bytes32 s) = vm.sign(uint256(word(i, "privateKey")), word(i, "digest"));
            assertEq(abi.encodePacked(r, s, v), signature, text(i, "name"));

            address directory = account(i, "directory");
            deployCodeTo("CommitteeDirectory.sol:CommitteeDirectory", directory);
            vm.warp(number(i, "issuedAt"));
            ICommitteeDirectory(directory)
                .announce(account(i, "provider"), text(i, "url"), number(i, "issuedAt"), signature);
        }
    }

    function _digest(uint256 index) private view returns (bytes32) {
        return ReferenceAnnouncements.digest(
            account(index, "directory"), account(index, "provider"), text(index, "url"), number(index, "issuedAt")
        );
    }
}
