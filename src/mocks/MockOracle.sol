// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle} from "../Oracle.sol";
import {IDataset} from "../interfaces/IDataset.sol";
import {KeyForm, KeyFormLibrary} from "../types/KeyForm.sol";
import {Cursor, CursorLibrary, Header, HeaderLibrary} from "../types/PackedUpdate.sol";

/// @title MockOracle
/// @notice A dataset for your own forge tests: it answers what you set, and checks payments and keys like a real one. A
/// query costs 0.001 ether and a subscription 0.1 ether, as in this project's settings.
///
///     MockOracle oracle = new MockOracle();
///     oracle.setSpotPrice("ETH-USD", 3000e18);
///     skip(11 minutes); // now the rate is too old for a limit of ten
///     oracle.setSpotPrice("BTC-USD", 60000e18, 10 minutes); // not too old yet
///     oracle.setAnswer("SPOTPX/ETH-USD", 0, 0, Oracle.QueryStatus.DISAGREEMENT);
///
/// It takes updates without signatures, for consumers that bring them:
///
///     bytes memory update = oracle.spotPriceUpdate("ETH-USD", 3100e18, 5 seconds);
///     consumer.buy(update); // calls oracle.updateAndQuerySpotPrice or oracle.verifySpotPrice
///     oracle.setRefusing(true); // as a dataset refuses reports that are not signed
///
/// It also stands in for the dataset of an adapter, or of a contract that calls `read` or `verify`: pass
/// `IDataset(address(oracle))`. As with a dataset, whoever calls `read`, such as an adapter or the helper
/// `readSpotPrice`, needs a subscription while the query price is not 0.
///
/// All keys of a dataset have one form. The first key that you set decides which form the mock's keys have.
contract MockOracle is Oracle {
    using KeyFormLibrary for KeyForm;

    /// @notice No provider signs anything for the key of an answer or of an update. It is neither
    /// "SPOTPX/<BASE>-<QUOTE>" nor "WEB/" and a request spec's hash, or it does not have the form of the first key that
    /// was set; a dataset would answer INVALID. Or no spec can have its arguments; a dataset, which does not look at
    /// them, would answer NOT_AVAILABLE for ever. `fix` says what to write instead. `update` and `verify` revert with
    /// `IDataset.InvalidKey` for a key of another form, as in a dataset.
    error NotAKey(string key, string fix);

    /// @notice An answer cannot be `age` seconds old on a chain whose time is only `blockTimestamp`. A forge test begins
    /// at timestamp 1: call `vm.warp(1_790_000_000)` in `setUp`, as `fix` says.
    error OlderThanTheChain(uint256 age, uint256 blockTimestamp, string fix);

    /// @notice The payment of a query, a verification or a subscription is not the exact price: as in a real dataset.
    /// Both in wei.
    error WrongPayment(uint256 sent, uint256 price);

    /// @notice The test has told the mock to refuse updates and verifications, with `setRefusing(true)`.
    error Refused();

    /// @dev As in a dataset.
    uint256 private constant PERIOD = 30 days;

    struct Answer {
        bytes32 output;
        uint256 updatedAt;
        QueryStatus status;
        bool isSet;
    }

    /// @inheritdoc Oracle
    uint256 public override queryPrice = 0.001 ether;

    /// @notice Returns the last second in which an address may read by subscription, as `IDataset.subscribedUntil`.
    mapping(address => uint256) public subscribedUntil;

    /// @dev The price of one period.
    uint256 private _subscriptionPrice = 0.1 ether;

    /// @notice True if updates and verifications are refused.
    bool public isRefusing;

    /// @dev By keccak256 of the key.
    mapping(bytes32 => Answer) private _answers;

    /// @dev Meaningless until a key was set.
    KeyForm private _keyForm;

    bool private _hasKeys;

    /// @notice Like `IDataset.keyForm`. Until the first key is set, it is that of spot prices.
    function keyForm() external view returns (KeyForm) {
        return _keyForm;
    }

    /// @notice Like `IDataset.maxRoundAge`, in seconds: that of this project's settings.
    uint256 public constant maxRoundAge = 300;

    /// @notice Like `IDataset.judgement`, for adapters, which read numbers.
    function judgement() external pure returns (IDataset.Judgement) {
        return IDataset.Judgement.MEDIAN;
    }

    /// @notice Sets the price of one query, in wei.
    function setQueryPrice(uint256 price) external {
        queryPrice = price;
    }

    /// @notice Sets the price of one period of a subscription, in wei. Like `IDataset.setSubscriptionPrice`, but anyone may
    /// call it, and there is no ceiling.
    function setSubscriptionPrice(uint256 price) external {
        _subscriptionPrice = price;
    }

    /// @notice Like `IDataset.subscribe`.
    function subscribe(address reader, uint256 periods) external payable returns (uint256 until) {
        if (periods == 0) revert IDataset.NoPeriods();
        until = subscribedUntil[reader];
        if (until < block.timestamp) until = block.timestamp;
        until += periods * PERIOD;
        uint256 latest = block.timestamp + 120 * PERIOD;
        if (until > latest) revert IDataset.SubscriptionTooLong(until, latest);
        uint256 cost = periods * _subscriptionPrice;
        if (msg.value != cost) revert WrongPayment(msg.value, cost);
        subscribedUntil[reader] = until;
    }

    /// @notice Like `IDataset.costOfSubscription`. The mock has no ceiling.
    function costOfSubscription() external view returns (uint256 price, uint256 period, uint256 ceiling) {
        return (_subscriptionPrice, PERIOD, type(uint256).max);
    }

    /// @notice Like `IDataset.read`: `SubscriptionNeeded` while the query price is not 0 and the caller is not
    /// subscribed.
    function read(bytes calldata key) external view returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        if (!_mayReadFree()) revert IDataset.SubscriptionNeeded(msg.sender, _subscriptionPrice, PERIOD);
        return _answer(key);
    }

    /// @notice Sets the rate of a pair, scaled by 1e18, updated now.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    function setSpotPrice(string calldata pair, uint256 rate) external {
        setAnswer(abi.encodePacked("SPOTPX/", pair), bytes32(rate), 0, QueryStatus.OK);
    }

    /// @notice Sets the rate of a pair, scaled by 1e18, updated `age` seconds ago.
    function setSpotPrice(string calldata pair, uint256 rate, uint256 age) external {
        setAnswer(abi.encodePacked("SPOTPX/", pair), bytes32(rate), age, QueryStatus.OK);
    }

    /// @notice Sets the answer to a query for `key`. It ages with the block timestamp. Reverts with `NotAKey` or
    /// `OlderThanTheChain`.
    /// @param key The whole key, with its prefix: "SPOTPX/ETH-USD", not "ETH-USD".
    /// @param output The value, in the scale of the dataset: 1e18 for a spot price. As in a dataset, the output is 0
    /// unless the status is OK.
    /// @param age The number of seconds since it was updated, less than the block timestamp.
    function setAnswer(bytes memory key, bytes32 output, uint256 age, QueryStatus status) public {
        uint256 round = _round(age);
        _requireKey(key);
        _set(key, output, round, status);
    }

    /// @notice Sets whether updates and verifications are refused with `Refused`. By default they are not.
    function setRefusing(bool isRefusing_) external {
        isRefusing = isRefusing_;
    }

    /// @notice Returns an update that sets the rate of a pair, scaled by 1e18, of `age` seconds ago. Reverts with
    /// `NotAKey` or `OlderThanTheChain`.
    /// @param pair "<BASE>-<QUOTE>", for example "ETH-USD".
    function spotPriceUpdate(string calldata pair, uint256 rate, uint256 age) external view returns (bytes memory) {
        return valueUpdate(abi.encodePacked("SPOTPX/", pair), bytes32(rate), age);
    }

    /// @notice Returns an update that sets a value of `age` seconds ago. Reverts with `NotAKey` or `OlderThanTheChain`.
    /// @param key The whole key, with its prefix: "SPOTPX/ETH-USD", not "ETH-USD".
    function valueUpdate(bytes memory key, bytes32 value, uint256 age) public view returns (bytes memory) {
        uint256 length = 0;
        while (length < 32 && uint256(value) >> (8 * length) != 0) ++length;
        bytes memory bytes_ = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            bytes_[i] = value[32 - length + i];
        }
        // A value has at most 32 bytes.
        // forge-lint: disable-next-line(unsafe-typecast)
        return abi.encodePacked(_start(HeaderLibrary.VALUES, key, age), uint8(length), bytes_);
    }

    /// @notice Returns an update that says that there was no data `age` seconds ago. Reverts with `NotAKey` or
    /// `OlderThanTheChain`.
    /// @param key The whole key, with its prefix.
    function noDataUpdate(bytes memory key, uint256 age) external view returns (bytes memory) {
        return _start(HeaderLibrary.NO_DATA, key, age);
    }

    /// @notice Like `IDataset.update`, but ignores the reports: stores the claimed value if the round is newer than that
    /// of the stored answer.
    function update(bytes calldata packed) external returns (QueryStatus status, bool isNew) {
        Header header = HeaderLibrary.read(packed, HeaderLibrary.VALUES);
        bytes calldata key = header.key(packed);
        return _update(key, header.timestamp(), _claimed(header, packed), QueryStatus.OK);
    }

    /// @notice Like `IDataset.updateNotAvailable`, but ignores the reports.
    function updateNotAvailable(bytes calldata packed) external returns (QueryStatus status, bool isNew) {
        Header header = HeaderLibrary.read(packed, HeaderLibrary.NO_DATA);
        return _update(header.key(packed), header.timestamp(), 0, QueryStatus.NOT_AVAILABLE);
    }

    /// @notice Like `IDataset.verify`, but ignores the reports.
    function verify(bytes calldata packed)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        Header header = HeaderLibrary.read(packed, HeaderLibrary.VALUES);
        bytes calldata key = header.key(packed);
        return _verify(key, header.timestamp(), _claimed(header, packed), QueryStatus.OK);
    }

    /// @notice Like `IDataset.verifyNotAvailable`, but ignores the reports.
    function verifyNotAvailable(bytes calldata packed)
        external
        payable
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        Header header = HeaderLibrary.read(packed, HeaderLibrary.NO_DATA);
        return _verify(header.key(packed), header.timestamp(), 0, QueryStatus.NOT_AVAILABLE);
    }

    /// @inheritdoc Oracle
    /// @dev Returns 0, 0 and NOT_AVAILABLE for a key that was not set, and 0, 0 and INVALID for one of another form.
    /// While no key is set, keys of both forms are NOT_AVAILABLE.
    function query(bytes calldata input)
        external
        payable
        override
        returns (bytes32 output, uint256 updatedAt, QueryStatus status)
    {
        if (msg.value != queryPrice) revert WrongPayment(msg.value, queryPrice);
        return _answer(input);
    }

    /// @dev Returns an update as far as its signers, of whom the mock has none.
    function _start(uint256 kind, bytes memory key, uint256 age) private view returns (bytes memory) {
        _requireKey(key);
        // The header has no more bytes for them.
        // forge-lint: disable-next-line(unsafe-typecast)
        return abi.encodePacked(uint8(kind), uint40(_round(age)), uint16(0), uint8(0), uint16(key.length), key);
    }

    function _claimed(Header header, bytes calldata packed) private pure returns (bytes32 value) {
        Cursor cursor = CursorLibrary.create(packed, HeaderLibrary.SIZE + header.size());
        (, cursor) = cursor.bitmap(header.members(), packed);
        (value,) = cursor.claim(packed);
    }

    function _update(bytes calldata key, uint256 timestamp, bytes32 value, QueryStatus newStatus)
        private
        returns (QueryStatus status, bool isNew)
    {
        isNew = _isNew(key, timestamp);
        if (isNew && !_isValid(key)) revert IDataset.InvalidKey(key);
        if (isNew) _set(key, value, timestamp, newStatus);
        (,, status) = _answer(key);
    }

    function _verify(bytes calldata key, uint256 timestamp, bytes32 value, QueryStatus status)
        private
        view
        returns (bytes32, uint256, QueryStatus)
    {
        bool isFree = msg.value == 0 && _mayReadFree();
        if (msg.value != queryPrice && !isFree) revert WrongPayment(msg.value, queryPrice);
        if (isRefusing) revert Refused();
        _requireInTime(timestamp);
        if (!_isValid(key)) revert IDataset.InvalidKey(key);
        return (value, timestamp, status);
    }

    /// @dev As in a dataset. On most chains only an `eth_call` without a sender has no origin.
    function _mayReadFree() private view returns (bool) {
        return queryPrice == 0 || subscribedUntil[msg.sender] >= block.timestamp || tx.origin == address(0);
    }

    function _isNew(bytes calldata key, uint256 timestamp) private view returns (bool) {
        if (timestamp <= _answers[keccak256(key)].updatedAt) return false;
        if (isRefusing) revert Refused();
        _requireInTime(timestamp);
        return true;
    }

    function _requireInTime(uint256 timestamp) private view {
        if (timestamp > block.timestamp) revert IDataset.FutureRound(timestamp, block.timestamp);
        uint256 age = block.timestamp - timestamp;
        if (age > maxRoundAge) revert IDataset.ExpiredRound(age, maxRoundAge);
    }

    function _answer(bytes calldata key) private view returns (bytes32 output, uint256 updatedAt, QueryStatus status) {
        Answer memory answer = _answers[keccak256(key)];
        if (!answer.isSet) return (0, 0, _isValid(key) ? QueryStatus.NOT_AVAILABLE : QueryStatus.INVALID);
        return (answer.output, answer.updatedAt, answer.status);
    }

    function _round(uint256 age) private view returns (uint256) {
        if (age >= block.timestamp) {
            revert OlderThanTheChain(age, block.timestamp, "call vm.warp(1_790_000_000) before you set an answer");
        }
        return block.timestamp - age;
    }

    function _set(bytes memory key, bytes32 output, uint256 updatedAt, QueryStatus status) private {
        if (!_hasKeys && KeyForm.WEB_ORACLE.matches(key)) _keyForm = KeyForm.WEB_ORACLE;
        _hasKeys = true;
        if (status != QueryStatus.OK) output = 0;
        _answers[keccak256(key)] = Answer({output: output, updatedAt: updatedAt, status: status, isSet: true});
    }

    function _isValid(bytes memory key) private view returns (bool) {
        return _keyForm.matches(key) || (!_hasKeys && KeyForm.WEB_ORACLE.matches(key));
    }

    function _requireKey(bytes memory key) private view {
        if (!_isValid(key)) revert NotAKey(string(key), _fixOf(key));
        if (KeyForm.WEB_ORACLE.matches(key) && !_canBeArguments(key)) {
            revert NotAKey(
                string(key),
                "write at most 8 arguments, none of them . or .. or with control characters, and each byte but A-Z a-z 0-9 - . _ ~ as % and two of 0-9 and A-F"
            );
        }
    }

    /// @dev Tells whether a spec can have these arguments: at most 8, each in its only form, without control characters,
    /// and neither "." nor "..". That their bytes are UTF-8, and that this spec has as many variables, is not checked.
    function _canBeArguments(bytes memory key) private pure returns (bool) {
        uint256 slashes = 0;
        // Of the argument; any other character counts as three.
        uint256 dots = 0;
        for (uint256 i = 68; i <= key.length; ++i) {
            if (i == key.length || key[i] == "/") {
                if (dots == 1 || dots == 2) return false;
                if (i < key.length) ++slashes;
                dots = 0;
                continue;
            }
            dots += key[i] == "." ? 1 : 3;
            if (_isUnreserved(key[i])) continue;
            if (key[i] != "%" || i + 2 >= key.length) return false;
            uint8 high = _hexDigit(key[++i]);
            uint8 low = _hexDigit(key[++i]);
            if (high > 15 || low > 15) return false;
            uint8 decoded = 16 * high + low;
            if (decoded < 0x20 || decoded == 0x7f || _isUnreserved(bytes1(decoded))) return false;
        }
        return slashes <= 8;
    }

    function _isUnreserved(bytes1 c) private pure returns (bool) {
        return (c >= "A" && c <= "Z") || (c >= "a" && c <= "z") || (c >= "0" && c <= "9") || c == "-" || c == "."
            || c == "_" || c == "~";
    }

    /// @dev Returns 16 for a character that is none in upper case.
    function _hexDigit(bytes1 c) private pure returns (uint8) {
        if (c >= "0" && c <= "9") return uint8(c) - 48;
        return c >= "A" && c <= "F" ? uint8(c) - 55 : 16;
    }

    /// @dev Returns what to write in place of a key that is not valid.
    function _fixOf(bytes memory key) private view returns (string memory) {
        bytes memory withPrefix = abi.encodePacked("SPOTPX/", key);
        if (_isValid(withPrefix)) return string(abi.encodePacked("write ", withPrefix));
        if (!_hasKeys) {
            return "write SPOTPX/<BASE>-<QUOTE> in A-Z and 0-9, or WEB/ and a spec's hash in 64 of 0-9 and a-f";
        }
        if (_keyForm == KeyForm.SPOT_PRICE) {
            return "write SPOTPX/<BASE>-<QUOTE> in A-Z and 0-9, as the first key has it, or deploy another MockOracle";
        }
        return
            "write WEB/ and a spec's hash in 64 of 0-9 and a-f, as the first key has it, or deploy another MockOracle";
    }
}
