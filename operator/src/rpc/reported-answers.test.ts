import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { encodeErrorResult, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answered,
  body,
  error,
  http,
  page,
  RESET,
  RESET_IN_ANSWER,
  result,
  SILENCE,
} from "../../test/rpc-behaviours/behaviour.js";
import { type RpcProxy, startRpcProxy } from "../../test/support/rpc-proxy.js";
import { connectEndpoint } from "./endpoint.js";
import type { ErrorMeaning } from "./node-errors.js";
import type { RpcErrorKind } from "./rpc-error.js";

/**
 * What RPC endpoints have been seen to answer, over real HTTP, and what it means; beside each stands who does so. What is
 * done for each meaning is tested in pool.test.ts, and on a chain in test/rpc-behaviours.test.ts.
 */

const EXECUTED = { status: "0x1", returnData: "0x", gasUsed: "0x5208" };
const BLOCK = { number: "0x7", hash: `0x${"7".repeat(64)}`, timestamp: "0x7" };
const LOG = {
  topics: [BLOCK.hash],
  transactionHash: BLOCK.hash,
  blockNumber: "0x7",
  blockHash: BLOCK.hash,
  logIndex: "0x0",
};
const manyLogs: Answered = {
  name: "2,001 logs",
  reply: () => ({
    body: { result: Array.from({ length: 2_001 }, (_, i) => ({ ...LOG, data: "0x", logIndex: numberToHex(i) })) },
  }),
};
const MEGABYTES: Answered = {
  name: "a result of 7 MB",
  reply: () => ({ body: { result: `0x${"0".repeat(7 * 2 ** 20)}` } }),
};
const HUGE = `0x${"f".repeat(60)}`;
const REVERT = encodeErrorResult({ abi: datasetAbi, errorName: "NoQuorum", args: [1n, 3n] });
const UNKNOWN = "not verified";
const CHAINLINK = "chainlink's client/errors.go";

/** The parameters of the methods in this file. */
const PARAMS: Readonly<Record<string, readonly unknown[]>> = {
  eth_call: [{}, "latest"],
  "eth_call pending": [{}, "pending"],
  "eth_getTransactionCount pending": ["0x", "pending"],
  eth_getLogs: [{ fromBlock: "0x1", toBlock: "0x9" }],
  "eth_getLogs of one block": [{ fromBlock: "0x9", toBlock: "0x9" }],
};

/** A text is the message of a JSON-RPC error with the code -32000. */
type AnswerRow = readonly [answer: Answered | string, reported: string];

const group = (asked: string, kind: RpcErrorKind, meaning: ErrorMeaning, rows: readonly AnswerRow[]) =>
  [asked, kind, meaning, rows] as const;

/** Results of another shape than the method's. */
const malformed = (asked: string, ...results: readonly unknown[]) =>
  group(
    asked,
    "failed",
    "no_answer",
    results.map((one) => [result(one), UNKNOWN]),
  );

const GROUPS = [
  group("eth_call", "failed", "throttled", [
    [error(-32005, "exceeded project rate limit", { status: 429 }), "Infura: status-im/status-go#4807"],
    [error(-32016, "over rate limit", { status: 429 }), "Base: base/node#368"],
    [error(15, "Too many request, try again later", { status: 429 }), "dRPC: GLEECBTC/coins#1677"],
    ["Monthly capacity limit exceeded. Visit https://dashboard.alchemyapi.io/", "Alchemy: a16z/zkdocs#9"],
    [error(-32600, "Monthly capacity limit exceeded.", { status: 403 }), "Alchemy: xmtp/xmtpd#672"],
  ]),
  group("eth_call", "failed", "no_answer", [
    [http(429, "error code: 1015"), "Cloudflare: web3/web3.js#4843"],
    [http(429, "Too many connections. Please try again later."), "reth: paritytech/jsonrpsee#1202"],
    [body({ error: "Must be authenticated!" }), "Alchemy's error reference"],
    [RESET, "load balancers: godwokenrises/godwoken#609"],
    [RESET_IN_ANSWER, UNKNOWN],
    [page(500, "Internal Server Error"), "Infura: MetaMask/metamask-extension#1424"],
    [page(502, "502 Bad Gateway"), "Arbitrum: smartcontractkit/chainlink#12323"],
    [http(499, "No Response From Node"), "Chainstack's node API errors reference"],
    [page(200, "Checking your browser"), `Cloudflare; ${UNKNOWN}`],
    [http(404, "404 page not found"), "Quicknode's error references"],
    [http(308, "", { location: "https://rpc.example/" }), UNKNOWN],
    [http(200, ""), "parity and Infura: ethereum/wiki#557"],
    [http(200, "invalid host specified"), "Infura: INFURA/infura#82"],
    [http(200, '{"jsonrpc":"2.0","id":1,"result":[{"addr'), "ChainSafe/lodestar#1599"],
    [body(null), "Quicknode: ethers-io/ethers.js#4679"],
    [body([{ jsonrpc: "2.0", id: 1, result: "0x2a" }]), "AlphaWallet/alpha-wallet-ios#5277"],
    [body({ id: null, result: "0x2a" }), "Fantom: gakonst/ethers-rs#1265"],
    [body({ id: undefined, result: "0x2a" }), "Nethermind: NethermindEth/nethermind#1439"],
    [body({ id: 999, result: "0x2a" }), UNKNOWN],
    [body({ error: { code: "1", message: { toString: 1 } } }), UNKNOWN],
    [body({ error: [] }), UNKNOWN],
    [body({}), UNKNOWN],
    [body({ id: { toString: 1 }, result: "0x2a" }), UNKNOWN],
    [result(null), "X Layer: okx/Deploy#4"],
    [result("0x1"), UNKNOWN],
  ]),
  group("eth_call", "timeout", "timeout", [
    [SILENCE, "Infura: INFURA/infura#58"],
    [error(30, "Request timeout on the free tier, please upgrade your tier"), "dRPC: enviodev/hyperindex#715"],
  ]),
  group("eth_call", "refused", "not_offered", [
    [http(401, "invalid project id\n"), "Infura: graphprotocol/indexer#145"],
    [http(402, "Payment Required"), "dRPC: enviodev/hyperindex#715"],
    [error(-32002, "rejected due to project ID settings", { status: 403 }), "Infura: OffchainLabs/prysm#8054"],
    [http(403, "Forbidden"), "Hedera: hiero-ledger/hiero-mirror-node#8180"],
    ["The method eth_call is not supported.", "MeowRPC: GLEECBTC/coins#1677"],
    [error(-32604, "Method not enabled"), "Besu's RpcErrorType.java"],
  ]),
  group("eth_call pending", "refused", "not_offered", [
    ["fetching the pending header is not supported", "Polygon Edge: 0xPolygon/polygon-edge#159"],
  ]),
  group("eth_call pending", "refused", "other", [
    [error(-32201, "This method doesn't support 'pending' as a parameter"), "RSK: rsksmart/rskj#1578"],
  ]),
  group("eth_call", "failed", "behind", [
    ["header for hash not found", "BSC: graphprotocol/graph-node#2401"],
    [error(-39001, "Unknown block"), "Besu's RpcErrorType.java"],
    ["block not found 11185311", "Erigon: erigontech/erigon#2770"],
  ]),
  group("eth_call", "refused", "out_of_reach", [
    ["old data not available due to pruning", "Erigon: erigontech/erigon#13727"],
    [error(-32603, "state at block #12369623 is pruned"), "reth: paradigmxyz/reth#21122"],
    [page(413, "413 Request Entity Too Large"), "Chainstack's node API errors reference"],
    [http(413, "content length too large (236894>131072)\n"), "geth: ethereum/go-ethereum#17595"],
  ]),
  group("eth_call", "refused", "reverted", [
    [error(3, "execution reverted", { data: REVERT }), "geth: wevm/viem#4092"],
    ["execution reverted", UNKNOWN],
    [error(-32015, "VM execution error.", { data: `Reverted ${REVERT}` }), "Nethermind: cowprotocol/watch-tower#11"],
    [error(-32603, "VM Exception while processing transaction", { data: { data: REVERT } }), `Hardhat; ${UNKNOWN}`],
    [error(3, "execution reverted", { data: REVERT, status: 400 }), "Hedera: hiero-ledger/hiero-json-rpc-relay#5443"],
  ]),
  group("eth_call", "refused", "other", [
    [error(-32603, "Internal error", { data: { message: "Internal error" } }), "NomicFoundation/hardhat#8040"],
    ["getStateObject (fffe) error: snapshot stale", "BSC: bnb-chain/bsc#3270"],
    [error(-32002, "No state available for block 0xe7b1"), "Nethermind: NethermindEth/nethermind#9277"],
    ["4294967295 could not be found", "Nethermind: NethermindEth/nethermind#11173"],
    [error(-32603, "upstream does not have the requested block yet"), "NethermindEth/nethermind#11173"],
  ]),
  ...["eth_estimateGas", "eth_getTransactionCount pending", "eth_getBlockByNumber", "eth_maxPriorityFeePerGas"].map(
    (asked) => malformed(asked, 0, null, [], { toString: 1 }, "fast"),
  ),
  // The regular expressions of shapes overflowed on these.
  ...["eth_call", "eth_getCode", "eth_getBalance"].map((asked) =>
    group(asked, "failed", "no_answer", [[MEGABYTES, UNKNOWN]]),
  ),
  malformed("eth_getLogs", [{ ...LOG, data: `0x${"00".repeat(65_536)}` }]),
  ...["eth_estimateGas", "eth_getTransactionCount pending"].map((asked) =>
    malformed(asked, "0x", "0x00", 21_000, HUGE),
  ),
  malformed("eth_getBlockByNumber", { ...BLOCK, baseFeePerGas: "zz" }),
  malformed("eth_getTransactionReceipt", 7, { status: "0x1" }, { status: "success", blockNumber: "0x1" }),
  malformed("eth_getLogs", 7, null, [null], [{ data: "0x", topics: [BLOCK.hash], transactionHash: 1 }]),
  group("eth_getLogs", "refused", "not_offered", [
    [error(-32602, "Log response size exceeded."), "Alchemy: ethers-io/ethers.js#4703"],
    [error(-32600, "You can make eth_getLogs requests with up to a 500 block range."), "BobTheBuidler/dank_mids#772"],
    [error(-32602, "invalid params", { data: { payload: "range 9 is bigger" } }), "bobanetwork/boba_legacy#827"],
    [error(-32602, "Block range limit exceeded."), "Chainstack: matter-labs/zksync-era#2974"],
    ["block range is larger than max block range", "Morph: enviodev/hyperindex#605"],
    [error(-32005, "eth_getLogs block range too large, range: 855077, max: 3500"), "MASQ-Project/MASQ-Node-issues#585"],
    ["Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.", "Alchemy"],
    [error(-32600, "block range too high"), "Candle: AlphaWallet/alpha-wallet-ios#5277"],
    [error(-32005, "Requested range exceeds maximum RPC range limit"), "Besu's RpcErrorType.java"],
    ["block range is too wide (maximum 1024)", "Moonbeam: moonbeam-foundation/moonbeam#3250"],
    [error(35, "ranges over 10000 blocks are not supported on freetier"), `dRPC; ${UNKNOWN}`],
    [page(503, "503 Service Temporarily Unavailable"), "Chainstack's node API errors reference"],
  ]),
  group("eth_getLogs", "refused", "out_of_reach", [[manyLogs, "anyone can cause as many"]]),
  group(
    "eth_simulateV1",
    "refused",
    "not_offered",
    [
      ...[{}, [], [{ calls: [] }], [{ calls: [EXECUTED, EXECUTED] }], Array(2).fill({ calls: [EXECUTED] })],
      ...[{ status: true }, { gasUsed: HUGE }, { returnData: "0x0" }, { error: { data: "revert" } }].map((wrong) => [
        { calls: [{ ...EXECUTED, ...wrong }] },
      ]),
    ].map((one) => [result(one), UNKNOWN]),
  ),
  group("txpool_contentFrom", "refused", "not_offered", [[result([]), UNKNOWN]]),
  group("eth_getLogs", "timeout", "not_offered", [[SILENCE, "a query of more than 10 s: INFURA/infura#237"]]),
  group("eth_sendRawTransaction", "refused", "already_known", [
    ["ALREADY_EXISTS: already known", "Erigon: erigontech/erigon#20826"],
    [error(-32010, "AlreadyKnown"), "Nethermind: NethermindEth/nethermind#4148"],
    ["known transaction. transaction with hash 0x1 is already in the system", CHAINLINK],
    ["tx already in mempool", "CometBFT"],
    ["tx already exists in cache", "CometBFT"],
    [error(-32010, "Transaction with the same hash was already imported."), "bitpay/crypto-rpc#122"],
    [error(-32603, "submit transaction to pool failed: Pool(AlreadyImported)"), `Moonriver: ${CHAINLINK}`],
    [error(-32603, "server returned an error response: already known"), "reth: paradigmxyz/reth#16401"],
  ]),
  group("eth_sendRawTransaction", "refused", "nonce_too_low", [
    ["call failed: nonce too low: current nonce (5833) > tx nonce (5511)", `Avalanche: ${CHAINLINK}`],
    ["Nonce too low. Provided nonce: 439, current nonce: 440", "hiero-ledger/hiero-json-rpc-relay#1513"],
    [error(-32010, "OldNonce, Current nonce: 5, nonce of rejected tx: 4"), `Nethermind: ${CHAINLINK}`],
    [error(-32010, "Transaction nonce is too low. Try incrementing the nonce."), `parity: ${CHAINLINK}`],
    [error(-32603, "submit transaction to pool failed: Pool(Stale)"), `Moonriver: ${CHAINLINK}`],
  ]),
  group("eth_sendRawTransaction", "refused", "nonce_too_high", [
    [error(-32010, "NonceGap, Future nonce. Expected nonce: 5"), `Nethermind: ${CHAINLINK}`],
    [error(-32006, "Nonce too high"), "Besu's RpcErrorType.java"],
  ]),
  group("eth_sendRawTransaction", "refused", "insufficient_funds", [
    [error(-32004, "Upfront cost exceeds account balance"), "Besu's RpcErrorType.java"],
    [error(-32010, "InsufficientFunds, Account balance: 0, cumulative cost: 5"), `Nethermind: ${CHAINLINK}`],
    ["not enough funds for gas", `Arbitrum: ${CHAINLINK}`],
    ["insufficient balance for transfer", `zkSync: ${CHAINLINK}`],
  ]),
  group("eth_sendRawTransaction", "refused", "underpriced", [
    ["gasprice is less than gas price minimum floor", `Celo: ${CHAINLINK}`],
  ]),
  group("eth_sendRawTransaction", "refused", "not_offered", [
    [error(-32601, "the method eth_sendRawTransaction does not exist"), "ethpandaops/optimism-package#106"],
  ]),
  group("eth_sendRawTransaction", "refused", "gas_refused", [
    ["transaction gas limit too high (cap: 16777216, tx: 20000000)", "geth's core/error.go"],
    ["insufficient gas for floor data gas cost: gas 21000, minimum needed 42000", "geth's core/error.go"],
    ["intrinsic gas too low: gas 20000, minimum needed 21000", "geth's core/error.go"],
    ["GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000", "Nethermind's AcceptTxResult.cs"],
    ["Transaction gas limit exceeds block gas limit", "Besu's RpcErrorType.java"],
    ["transaction gas limit (20000000) is greater than the cap (16777216)", "revm's InvalidTransaction"],
    ["gas limit is too high", "Erigon's txpoolcfg.go"],
    ["tx gas limit exceeded", UNKNOWN],
  ]),
  group("eth_sendRawTransaction", "refused", "one_at_a_time", [
    ["in-flight transaction limit reached for delegated accounts", "geth's core/txpool/errors.go"],
    ["gapped-nonce tx from delegated accounts", "geth's core/txpool/errors.go"],
    ["delegation nonce gap", "Nethermind's TxPoolErrorMessages.cs"],
    ["delegation authority has pending transaction", "Nethermind's TxPoolErrorMessages.cs"],
  ]),
  group("eth_sendRawTransaction", "refused", "not_taken", [
    [error(-32010, "There are too many transactions in the queue."), "openethereum/parity-ethereum#8894"],
    ["sequencer pending tx pool full, please try again", `Arbitrum: ${CHAINLINK}`],
    ["txpool is full", "geth's and Reth's pools"],
    ["pending sub-pool is full", "Erigon's txpoolcfg.go"],
    ["account limit exceeded: tx 17, limit 16", "geth's core/txpool/errors.go"],
    ["invalid transaction v, r, s values", "geth's core/types"],
    ["address already reserved", "geth's core/txpool/errors.go"],
    ["unknown transaction type", UNKNOWN],
  ]),
  group("eth_sendRawTransaction", "failed", "throttled", [
    [error(-32005, "daily request count exceeded, request rate limited"), "Infura"],
    ["sequencer temporarily paused, retry after 3s", UNKNOWN],
    [error(-32000, "server overloaded", { status: 500 }), UNKNOWN],
  ]),
  // A well-formed error is a refusal.
  group("eth_sendRawTransaction", "refused", "other", [
    ["discard reason: 33", "Erigon: erigontech/erigon#14055"],
    ["sequencer transaction forwarding not configured", "Optimism: ethereum-optimism/optimism#3179"],
    ["only replay-protected (EIP-155) transactions allowed over RPC", "geth's internal/ethapi"],
  ]),
  // Then the transaction may be in a node's pool.
  group("eth_sendRawTransaction", "timeout", "timeout", [
    [SILENCE, UNKNOWN],
    ["failed to forward tx to sequencer, please try again. Error message: 'context deadline exceeded'", "op-geth"],
    [error(-32603, "request timed out", { status: 504 }), UNKNOWN],
  ]),
  group("eth_sendRawTransaction", "failed", "no_answer", [
    [RESET, "load balancers: godwokenrises/godwoken#609"],
    [page(502, "502 Bad Gateway"), "Arbitrum: smartcontractkit/chainlink#12323"],
    [body({ error: "upstream timed out" }), UNKNOWN],
    [body({ error: false }), UNKNOWN],
    [result("zz"), UNKNOWN],
    [error(-32603, "no backend is healthy", { status: 503 }), "a gateway"],
    ["failed to forward tx to sequencer, please try again. Error message: 'unexpected EOF'", "op-geth"],
    ["write tcp 10.0.0.1:1->10.0.0.2:80: write: broken pipe", UNKNOWN],
    ["http: server closed idle connection", UNKNOWN],
  ]),
];

let endpoint: RpcProxy;

beforeAll(async () => {
  // No call is passed on to a chain.
  endpoint = await startRpcProxy("http://127.0.0.1:1");
});

afterAll(() => endpoint.close());

function ask(asked: string, { reply }: Answered, timeoutMs = 5_000): Promise<unknown> {
  endpoint.script = (call) => reply(call, 0);
  const [method = ""] = asked.split(" ");
  const context = { clock: SYSTEM_CLOCK, closing: new AbortController().signal, dispatcher: TRUSTED_CONNECTIONS };
  return connectEndpoint(42, endpoint.url, timeoutMs, context).request(method, PARAMS[asked] ?? []);
}

describe.each(GROUPS)("%s: %s, %s", (asked, kind, meaning, rows) => {
  test.each(rows)("%o (%s)", async (answer) => {
    const answered = typeof answer === "string" ? error(-32000, answer) : answer;
    const call = ask(asked, answered, answered === SILENCE ? 100 : 5_000);
    await expect(call).rejects.toMatchObject({ kind, meaning });
  });
});

test("of the logs of one block the newest are used, because its search cannot be made smaller", async () => {
  const logs = await ask("eth_getLogs of one block", manyLogs);
  expect(logs).toHaveLength(2_000);
  expect(logs).toMatchObject({ 0: { logIndex: "0x1" } });
});
