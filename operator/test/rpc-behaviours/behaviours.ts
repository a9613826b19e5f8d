import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeErrorResult } from "viem";
import {
  afterPassingOn,
  type Behaviour,
  body,
  changed,
  EVERYTHING,
  EXECUTION,
  either,
  error,
  group,
  http,
  LOGS,
  methods,
  only,
  PENDING_BLOCK,
  PENDING_COUNT,
  type Problem,
  page,
  READS,
  RECEIPTS,
  RESET,
  RESET_IN_ANSWER,
  RESET_OF_REUSED,
  result,
  SILENCE,
  STATE,
  SUBMISSION,
  times,
  wantsTip,
} from "./behaviour.js";

const HASH = `0x${"1".repeat(64)}`;
const HUGE = `0x${"f".repeat(60)}`;
const REVERT = { data: encodeErrorResult({ abi: datasetAbi, errorName: "NoQuorum", args: [1n, 3n] }) };

const FAILED: Problem = { http: 502, code: "rpc_failed" };
/** The transaction may be in a node's pool. */
const OPEN: Problem = { ...FAILED, isOpen: true };
const NO_QUORUM: Problem = { http: 503, code: "update_reverted", says: "NoQuorum" };
const OUT_OF_FUNDS: Problem = { http: 503, code: "out_of_funds" };

const ALCHEMY = "Alchemy's error reference";
const BESU = "Besu's RpcErrorType.java";
const CHAINLINK = "chainlink's client/errors.go";
const CHAINSTACK = "Chainstack's node API errors reference";
const ERPC = "erpc's error_normalizer.go";
const QUICKNODE = "Quicknode's error references";
const UNKNOWN = "not verified";

const THROUGHPUT = "Your app has exceeded its compute units per second capacity.";
const CAPACITY = "Monthly capacity limit exceeded. Visit https://dashboard.alchemyapi.io/settings/billing to upgrade.";
const NO_FUNDS = "insufficient funds for gas * price + value";
const NO_SUBMISSIONS = "the method eth_sendRawTransaction does not exist/is not available";
const TIP_OF_25_GWEI = "gas tip cap 1000000000, minimum needed 25000000000";
const NO_PENDING = error(-32602, "invalid block parameter: pending");
const UNDERPRICED = error(-32000, "transaction underpriced");
const TOO_MANY = error(429, THROUGHPUT, { status: 429 });
const BAD_GATEWAY = page(502, "502 Bad Gateway");
const UNAVAILABLE = page(503, "503 Service Temporarily Unavailable");
const WITHOUT_BASE_FEE = changed("without a base fee", (block: object) => ({ ...block, baseFeePerGas: undefined }));

/** What RPC endpoints have been seen to do, by subject. */
export const BEHAVIOURS: Readonly<Record<string, readonly Behaviour[]>> = {
  "rate limits, quotas and credentials": [
    ...group("the first of two", EVERYTHING, "the first rests", [
      [TOO_MANY, "Alchemy: Synthetixio/kwenta#40"],
      [error(429, THROUGHPUT), ALCHEMY],
      [error(-32005, "exceeded project rate limit", { status: 429 }), "Infura: status-im/status-go#4807"],
      [error(-32005, "daily request count exceeded, request rate limited"), "Infura: blockscout/blockscout#7339"],
      [error(-32007, "50/second request limit reached"), "Quicknode: wevm/viem#5083, wevm/viem#5084"],
      [error(-32016, "over rate limit", { status: 429 }), "Base: base/node#368"],
      [error(15, "Too many request, try again later", { status: 429 }), "dRPC: GLEECBTC/coins#1677"],
      [error(-32005, "rate limit exceeded", { status: 429 }), "Tenderly: fluencelabs/dev-rewards#20"],
      [http(429, "error code: 1015"), "Cloudflare: web3/web3.js#4843"],
      [http(429, "Too many connections. Please try again later."), "reth: paritytech/jsonrpsee#1202"],
      [http(429, "", { "retry-after": "20" }), "RFC 6585, section 4"],
      [error(-32600, CAPACITY, { status: 403 }), "Alchemy: xmtp/xmtpd#672"],
      [error(-32000, CAPACITY), "Alchemy: a16z/zkdocs#9"],
      [http(402, "Payment Required"), "dRPC: enviodev/hyperindex#715"],
      [error(30, "Request timeout on the free tier, please upgrade your tier"), "dRPC: enviodev/hyperindex#715"],
      [http(401, "invalid project id\n"), "Infura: graphprotocol/indexer#145"],
      [body({ error: "Must be authenticated!" }), ALCHEMY],
      [error(-32002, "rejected due to project ID settings", { status: 403 }), "Infura: OffchainLabs/prysm#8054"],
      [
        error(-32000, "Unauthorized: You must authenticate your request with an API key."),
        "Ankr: BitteProtocol/near-ca#173",
      ],
      [http(403, "message: API key is not allowed to access blockchain, rest code: 403"), "Ankr: wevm/viem#3476"],
    ]),
    ...group("the first of two", EXECUTION, "the first rests", [
      [error(429, THROUGHPUT), "Alchemy: gitcoinco/grants-stack-indexer#156"],
      [error(-32000, "Exceeded the quota usage"), ERPC],
    ]),
    ...group("each of two", EVERYTHING, FAILED, [[TOO_MANY, "Alchemy: conduitxyz/node#36"]]),
  ],

  transport: [
    ...group("the first of two", EVERYTHING, "the first rests", [
      [SILENCE, "Infura: INFURA/infura#58"],
      [RESET, "load balancers: godwokenrises/godwoken#609"],
      [RESET_IN_ANSWER, UNKNOWN],
      [page(500, "Internal Server Error"), "Infura: MetaMask/metamask-extension#1424"],
      [BAD_GATEWAY, "Arbitrum: smartcontractkit/chainlink#12323"],
      [UNAVAILABLE, CHAINSTACK],
      [page(504, "504 Gateway Time-out"), CHAINSTACK],
      [http(499, "No Response From Node"), CHAINSTACK],
      [page(521, "521: Web server is down"), `Cloudflare; ${UNKNOWN}`],
      [page(200, "Checking your browser"), `Cloudflare; ${UNKNOWN}`],
      [http(404, "404 page not found"), QUICKNODE],
      [http(308, "", { location: "https://rpc.example/" }), UNKNOWN],
      [http(200, ""), "parity and Infura: ethereum/wiki#557"],
      [http(200, "invalid host specified"), "Infura: INFURA/infura#82"],
      [http(200, '{"jsonrpc":"2.0","id":1,"result":[{"addr'), "ChainSafe/lodestar#1599"],
      [body(null), "Quicknode: ethers-io/ethers.js#4679"],
      [body([{ jsonrpc: "2.0", id: 1, result: "0x2a" }]), "AlphaWallet/alpha-wallet-ios#5277"],
      [body({ id: null, result: "0x2a" }), "Fantom: gakonst/ethers-rs#1265"],
      [body({ id: undefined, result: "0x2a" }), "Nethermind: NethermindEth/nethermind#1439"],
      [body({ id: 999, result: "0x2a" }), UNKNOWN],
    ]),
    ...group("the only one", EVERYTHING, { http: 504, code: "rpc_timeout" }, [[SILENCE, "INFURA/infura#58"]]),
    ...group("the only one", EVERYTHING, FAILED, [
      [RESET, "load balancers: godwokenrises/godwoken#609"],
      [page(200, "Not found"), UNKNOWN],
      [http(500, ""), CHAINSTACK],
      [result(null), "X Layer: okx/Deploy#4"],
    ]),
    ...["eth_getTransactionCount", "eth_getBlockByNumber", "eth_estimateGas"].flatMap((method) =>
      group("the only one", only(method), FAILED, [[RESET, UNKNOWN]]),
    ),
    ...group("the only one", READS, "it is answered", [
      [RESET_OF_REUSED, "load balancers: solana-labs/solana#29130, godwokenrises/godwoken#609"],
    ]),
    ...group("the first of two", SUBMISSION, "it is mined", [[RESET_OF_REUSED, "solana-labs/solana#29130"]]),
  ],

  "lag and lost state": [
    ...group("the first of two", STATE, "the first is asked again", [
      [error(-32000, "header not found"), "Infura: MetaMask/metamask-extension#7234"],
      [error(-32000, "header for hash not found"), "BSC: graphprotocol/graph-node#2401"],
      [error(-32000, "missing trie node c6eb (path ) state 0xc6eb is not available"), "Polygon: 0xPolygon/bor#1303"],
      [error(-32000, "missing trie node 288259a5 (path )"), "geth: ethereum/go-ethereum#25826"],
      [error(-32000, "getStateObject (fffe) error: snapshot stale"), "BSC: bnb-chain/bsc#3270"],
      [error(-32000, "getStateObject (fffe) error: layer stale"), "geth 1.17.10 itself"],
      [error(-39001, "Unknown block"), BESU],
      [error(-32001, "Unknown block"), UNKNOWN],
      [error(-32000, "World state unavailable"), BESU],
      [error(-32008, "Initial sync is still in progress"), BESU],
      [error(-32002, "No state available for block 0xe7b1"), "Nethermind: NethermindEth/nethermind#9277"],
      [
        error(-32603, "Internal error", { data: "Nethermind.Trie.MissingTrieNodeException: Node A is missing" }),
        "Nethermind: NethermindEth/nethermind#9408",
      ],
      [error(-32000, "4294967295 could not be found"), "Nethermind: NethermindEth/nethermind#11173"],
      [error(-32603, "upstream does not have the requested block yet"), "NethermindEth/nethermind#11173"],
      [error(-32000, "block not found 11185311"), "Erigon: erigontech/erigon#2770"],
      [error(-32000, "old data not available due to pruning"), "Erigon: erigontech/erigon#13727"],
      [error(-32603, "state at block #12369623 is pruned"), "reth: paradigmxyz/reth#21122"],
      [error(-32002, "No response or no available upstream for eth_call"), "dshackle: emeraldpay/dshackle#67"],
    ]),
    ...group("each of two", STATE, FAILED, [
      [error(-32000, "header not found"), "Infura: MetaMask/metamask-extension#12961"],
    ]),
    ...group("the first of two", RECEIPTS, "it is mined", [
      [error(-32000, "transaction indexing is in progress"), "geth: ethereum/go-ethereum#29956"],
      [
        changed("without logs", (found: object | null) => found && { ...found, logs: [] }),
        "filecoin-project/lotus#13758",
      ],
    ]),
    ...group("the only one", RECEIPTS, "it is mined", [
      [times(2, error(-32000, "transaction indexing is in progress")), "geth: ethers-io/ethers.js#4999"],
      [times(2, result(null)), "load balancers: foundry-rs/foundry#3880"],
      [times(2, result(7)), UNKNOWN],
      [times(2, result({ status: "0x1" })), UNKNOWN],
      [times(2, result({ status: "success", blockNumber: "0x1" })), UNKNOWN],
    ]),
  ],

  "unsupported methods, tags and sizes": [
    ...group("each of two", PENDING_BLOCK, "it is answered", [
      [error(-32000, "pending block is not available"), `geth: ${ERPC}`],
      [NO_PENDING, UNKNOWN],
      [error(-32201, "This method doesn't support 'pending' as a parameter"), "RSK: rsksmart/rskj#1578"],
      [
        error(-32000, "`eth_call` raised an exception", { data: "Unsupported block tag pending" }),
        "Nimbus: status-im/nimbus-eth1#4687",
      ],
      [error(-32000, "fetching the pending header is not supported"), "Polygon Edge: 0xPolygon/polygon-edge#159"],
      [
        error(-32000, "This request is not supported because your node is running with state pruning."),
        "parity: openethereum/parity-ethereum#10096",
      ],
    ]),
    ...group("each of two", PENDING_COUNT, "it is answered", [
      [NO_PENDING, UNKNOWN],
      [
        error(-32000, "`eth_getTransactionCount` raised an exception", { data: "Unsupported block tag pending" }),
        "Nimbus: status-im/nimbus-eth1#4687",
      ],
    ]),
    ...group("each of two", only("eth_simulateV1"), "it is answered", [
      [error(-32601, "the method eth_simulateV1 does not exist/is not available"), UNKNOWN],
      [error(-32601, "Unsupported JSON-RPC method"), "Hedera: hiero-ledger/hiero-json-rpc-relay#4359"],
      [error(-32000, "method handler crashed"), "Arbitrum: OffchainLabs/nitro#3372"],
    ]),
    ...group("each of two", only("eth_maxPriorityFeePerGas"), "it is answered", [
      [error(-32601, "Method not found"), "zkSync: matter-labs/zksync-era#13"],
      [error(-32000, "Method eth_maxPriorityFeePerGas not supported."), "full-blockchain-solidity-course-py#502"],
    ]),
    ...group("each of two", only("txpool_contentFrom"), "it is answered", [
      [error(-32601, "The method txpool_contentFrom does not exist/is not available"), "blockscout/blockscout#7339"],
    ]),
    ...group("the first of two", only("eth_maxPriorityFeePerGas"), "the first is not asked this again", [
      [error(-32601, "Method not found"), "Moonbeam: moonbeam-foundation/moonbeam#1338"],
    ]),
    ...group("the first of two", EXECUTION, "the first is not asked this again", [
      [http(403, "Forbidden"), "Hedera: hiero-ledger/hiero-mirror-node#8180"],
      [error(-32601, "the method eth_call does not exist/is not available"), "ubiquity/pay.ubq.fi#235"],
      [error(-32000, "The method eth_call is not supported."), "MeowRPC: GLEECBTC/coins#1677"],
      [error(-32604, "Method not enabled"), BESU],
    ]),
    ...group("the first of two", PENDING_COUNT, "the first is not asked this again", [[NO_PENDING, UNKNOWN]]),
    ...group("the first of two", EXECUTION, "the first is asked again", [
      [page(413, "413 Request Entity Too Large"), CHAINSTACK],
      [http(413, "content length too large (236894>131072)\n"), "geth: ethereum/go-ethereum#17595"],
    ]),
    ...group("the first of two", SUBMISSION, "it is mined", [
      [error(-32000, "sequencer transaction forwarding not configured"), "ethereum-optimism/optimism#3179"],
      [error(-32601, NO_SUBMISSIONS), "Optimism: ethpandaops/optimism-package#106"],
    ]),
    ...group("each of two", SUBMISSION, FAILED, [[error(-32601, NO_SUBMISSIONS), "ethpandaops/optimism-package#106"]]),
  ],

  "logs at the start": [
    ...group("the first of two", LOGS, "it starts", [
      [result([]), "reth and Erigon without old receipts: paradigmxyz/reth#27002, erigontech/erigon#16042"],
      [error(-32005, "limit exceeded"), "BSC: bnb-chain/bsc#1215"],
      [
        error(-32602, "Log response size exceeded. You can make eth_getLogs requests"),
        "Alchemy: ethers-io/ethers.js#4703",
      ],
      [error(-32600, "You can make eth_getLogs requests with up to a 500 block range."), "BobTheBuidler/dank_mids#772"],
      [error(-32602, "range 1000000 exceeds limit of 10000"), "Infura: INFURA/infura#237"],
      [error(-32005, "query returned more than 10000 results"), "Infura: ethers-io/ethers.js#4703"],
      [
        error(-32602, "invalid params", { data: { payload: "range 9 is bigger than range limit 2" } }),
        "bobanetwork/boba_legacy#827",
      ],
      [error(-32602, "Block range limit exceeded."), "Chainstack: matter-labs/zksync-era#2974"],
      [error(-32000, "block range is larger than max block range"), "Morph: enviodev/hyperindex#605"],
      [
        error(-32005, "eth_getLogs block range too large, range: 855077, max: 3500"),
        "MASQ-Project/MASQ-Node-issues#585",
      ],
      [error(-32600, "block range too high"), "Candle: AlphaWallet/alpha-wallet-ios#5277"],
      [error(-32005, "Requested range exceeds maximum RPC range limit"), BESU],
      [error(-32000, "block range is too wide (maximum 1024)"), "Moonbeam: moonbeam-foundation/moonbeam#3250"],
      [error(35, "ranges over 10000 blocks are not supported on freetier"), `dRPC; ${UNKNOWN}`],
      [error(-32701, "Please specify less number of address"), `PublicNode: ${ERPC}`],
      [http(413, "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range"), QUICKNODE],
      [error(4444, "pruned history unavailable"), "geth: OffchainLabs/prysm#15500"],
      [error(-32000, "failed to get logs for block"), "geth: ethereum/go-ethereum#23875"],
      [UNAVAILABLE, CHAINSTACK],
      [SILENCE, "a query of more than 10 s: INFURA/infura#237"],
    ]),
  ],

  "the start": [
    ...group("each of two", LOGS, "it starts from a list", [
      [result([]), "reth and Erigon without old receipts: paradigmxyz/reth#27002, erigontech/erigon#16042"],
      [error(-32005, "limit exceeded"), "BSC: bnb-chain/bsc#1215, bnb-chain/docs-site#621"],
      [error(4444, "pruned history unavailable"), "geth: OffchainLabs/prysm#15500"],
      [UNAVAILABLE, CHAINSTACK],
    ]),
    ...group("the only one", EVERYTHING, "it starts late", [
      [http(429, "Too Many Requests"), "Infura: status-im/status-go#4807"],
      [error(-32005, "daily request count exceeded, request rate limited"), "Infura: blockscout/blockscout#7339"],
      [error(-32008, "Initial sync is still in progress"), BESU],
      [UNAVAILABLE, CHAINSTACK],
      [RESET, UNKNOWN],
      [SILENCE, UNKNOWN],
    ]),
  ],

  submissions: [
    ...group("the only one", SUBMISSION, "it is mined", [
      [afterPassingOn(error(-32000, "already known")), "geth: ethereum/go-ethereum#22093"],
      [afterPassingOn(error(-32000, "ALREADY_EXISTS: already known")), "Erigon: erigontech/erigon#20826"],
      [afterPassingOn(error(-32010, "AlreadyKnown")), "Nethermind: NethermindEth/nethermind#4148"],
      [afterPassingOn(error(-32000, "Known transaction")), BESU],
      [
        afterPassingOn(error(-32000, "known transaction. transaction with hash 0x1 is already in the system")),
        CHAINLINK,
      ],
      [afterPassingOn(error(-32010, "Transaction with the same hash was already imported.")), "bitpay/crypto-rpc#122"],
      [
        afterPassingOn(error(-32603, "submit transaction to pool failed: Pool(AlreadyImported)")),
        `Moonriver: ${CHAINLINK}`,
      ],
      [
        afterPassingOn(error(-32603, "server returned an error response: already known")),
        "reth: paradigmxyz/reth#16401",
      ],
      [afterPassingOn(error(-32000, "nonce too low")), "Odyssey: ithacaxyz/relay#652"],
      [afterPassingOn(SILENCE), "Odyssey: ithacaxyz/relay#652"],
      [afterPassingOn(RESET), "ethers-io/ethers.js#217"],
      [afterPassingOn(BAD_GATEWAY), "Arbitrum: smartcontractkit/chainlink#12323"],
      [afterPassingOn(error(-32000, "busy", { status: 504 })), UNKNOWN],
      [afterPassingOn(result(HASH)), UNKNOWN],
      [times(1, result(HASH)), "a swallowed transaction: INFURA/infura#107"],
      [times(1, error(-32000, "nonce too low")), "Erigon: erigontech/erigon#22299"],
      [
        times(1, error(-32000, "call failed: nonce too low: current nonce (5833) > tx nonce (5511)")),
        `Avalanche: ${CHAINLINK}`,
      ],
      [
        times(1, error(-32000, "Nonce too low. Provided nonce: 439, current nonce: 440")),
        "hiero-ledger/hiero-json-rpc-relay#1513",
      ],
      [times(1, error(-32000, "invalid transaction nonce")), `Arbitrum: ${CHAINLINK}`],
      [times(1, error(-32010, "OldNonce, Current nonce: 5, nonce of rejected tx: 4")), `Nethermind: ${CHAINLINK}`],
      [times(1, error(-32010, "Transaction nonce is too low. Try incrementing the nonce.")), `parity: ${CHAINLINK}`],
      [times(1, error(-32603, "submit transaction to pool failed: Pool(Stale)")), `Moonriver: ${CHAINLINK}`],
      [times(1, error(-32010, "NonceGap, Future nonce. Expected nonce: 5")), `Nethermind: ${CHAINLINK}`],
      [times(1, error(-32006, "Nonce too high")), BESU],
    ]),
    ...group("the first of two", SUBMISSION, "it is mined", [
      [error(-32000, "txpool is full"), "reth: scroll-tech/rollup-node#112"],
      [error(-32010, "There are too many transactions in the queue."), "openethereum/parity-ethereum#8894"],
      [error(-32000, "sequencer pending tx pool full, please try again"), `Arbitrum: ${CHAINLINK}`],
      [error(-32000, "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)"), `geth: ${CHAINLINK}`],
      [error(-32000, NO_FUNDS), `geth: ${CHAINLINK}`],
      [UNDERPRICED, "Polygon: 0xPolygon/launch#62"],
      [error(-32000, `transaction underpriced: ${TIP_OF_25_GWEI}`), "0xPolygon/bor#326"],
      [error(-32000, "discard reason: 33"), "Erigon: erigontech/erigon#14055"],
      [error(-32016, "over rate limit", { status: 429 }), "Base: base/node#368"],
      [SILENCE, "Odyssey: ithacaxyz/relay#652"],
    ]),
    ...group("the only one", SUBMISSION, OUT_OF_FUNDS, [
      [error(-32000, NO_FUNDS), `geth: ${CHAINLINK}`],
      [error(-32004, "Upfront cost exceeds account balance"), BESU],
      [error(-32010, "InsufficientFunds, Account balance: 0, cumulative cost: 5"), `Nethermind: ${CHAINLINK}`],
      [error(-32000, "not enough funds for gas"), `Arbitrum: ${CHAINLINK}`],
      [error(-32000, "insufficient balance for transfer"), `zkSync: ${CHAINLINK}`],
    ]),
    ...group("the only one", SUBMISSION, FAILED, [[error(-32000, "exceeds block gas limit"), `geth: ${CHAINLINK}`]]),
    ...group("the only one", SUBMISSION, OPEN, [
      [error(-32000, "txpool is full"), "reth: scroll-tech/rollup-node#112"],
      [TOO_MANY, "Alchemy: conduitxyz/node#36"],
      [BAD_GATEWAY, "Arbitrum: smartcontractkit/chainlink#12323"],
      [RESET, "load balancers: godwokenrises/godwoken#609"],
      [body({ error: "upstream timed out" }), UNKNOWN],
      [body({ error: { message: { toString: 1 } } }), UNKNOWN],
      [body({ error: false }), UNKNOWN],
      [result("zz"), UNKNOWN],
      [result(null), UNKNOWN],
    ]),
  ],

  fees: [
    ...group("the only one", SUBMISSION, "it is mined", [
      [
        wantsTip("25", error(-32000, `transaction underpriced: ${TIP_OF_25_GWEI}`)),
        "Polygon: skip-mev/skip-go-fast-solver#46",
      ],
      [
        wantsTip("25", error(-32000, `transaction gas price below minimum: ${TIP_OF_25_GWEI}`)),
        "Polygon: WayfinderFoundation/wayfinder-paths-sdk#379",
      ],
      [
        wantsTip("3", error(-32000, "transaction underpriced: tip needed 3000000000, tip permitted 1000000000")),
        "BSC: bnb-chain/bsc#2387, hyperlane-xyz/hyperlane-monorepo#3396",
      ],
      [
        wantsTip("3", error(-32000, "gas price too low: 1 wei, use at least tx.gasPrice = 3000000000 wei")),
        `Metis: ${CHAINLINK}`,
      ],
      [
        wantsTip("5", error(-32010, "FeeTooLow, EffectivePriorityFeePerGas too low 1 < 5000000000, BaseFee: 7")),
        `Nethermind: ${CHAINLINK}`,
      ],
      [wantsTip("5", error(-32000, "gasprice is less than gas price minimum floor")), `Celo: ${CHAINLINK}`],
      [wantsTip("30", UNDERPRICED), "Polygon: 0xPolygon/launch#62, zerodevapp/sdk-v1#4"],
    ]),
    ...group("the only one", SUBMISSION, { http: 503, code: "fees_too_high", says: "maxPriorityFeePerGasGwei" }, [
      [
        wantsTip("225", error(-32000, "transaction underpriced: gas tip cap (0) < pool gas tip cap (225000000000)")),
        "Avalanche: ava-labs/coreth#198",
      ],
    ]),
    ...group("the first of two", SUBMISSION, "it is mined", [
      [
        wantsTip("225", error(-32000, "transaction underpriced: gas tip cap 1, minimum needed 225000000000")),
        "bnb-chain/bsc#2778",
      ],
    ]),
    ...group("the only one", only("eth_maxPriorityFeePerGas"), "it is mined", [
      [result("0x0"), "reth: paradigmxyz/reth#24181"],
    ]),
    ...group("the only one", only("eth_getBlockByNumber"), "it is mined", [
      [WITHOUT_BASE_FEE, "chains from before London"],
      [changed("without a gas limit", (block: object) => ({ ...block, gasLimit: undefined })), `Celo; ${UNKNOWN}`],
    ]),
    ...group(
      "the only one",
      methods("legacy fees", "eth_getBlockByNumber", "eth_gasPrice", "eth_sendRawTransaction"),
      "it is mined",
      [
        [
          either(
            "eth_getBlockByNumber",
            WITHOUT_BASE_FEE,
            either("eth_gasPrice", result("0x0"), wantsTip("1", UNDERPRICED)),
          ),
          "Avalanche: ava-labs/coreth#198",
        ],
      ],
    ),
    ...group("the only one", methods("fees", "eth_maxPriorityFeePerGas", "eth_sendRawTransaction"), "it is mined", [
      [
        either(
          "eth_maxPriorityFeePerGas",
          result("0x0"),
          wantsTip("0.000000001", error(-32000, "transaction underpriced: gas tip cap 0, minimum needed 1")),
        ),
        "geth: status-im/status-legacy#22468",
      ],
    ]),
  ],

  "answers of another shape": [
    ...group("the only one", only("eth_call"), FAILED, [
      [body({ error: { code: 1, message: { toString: 1 } } }), UNKNOWN],
      [body({ error: { message: { toString: 1 } } }), UNKNOWN],
      [body({ error: [] }), UNKNOWN],
      [body({}), UNKNOWN],
      [result("0x"), UNKNOWN],
      [result("0x1"), UNKNOWN],
      [result(`0x${"f".repeat(192)}`), UNKNOWN],
    ]),
    ...group("the only one", only("eth_estimateGas"), FAILED, [
      [result("0x"), UNKNOWN],
      [result("0x00"), UNKNOWN],
      [result(21_000), UNKNOWN],
      [result(HUGE), UNKNOWN],
    ]),
    ...group("the only one", only("eth_getTransactionCount"), FAILED, [
      [result("0x"), UNKNOWN],
      [result(HUGE), UNKNOWN],
      [result({ toString: 1 }), UNKNOWN],
      [result(null), UNKNOWN],
    ]),
    ...group("the only one", only("eth_getBlockByNumber"), FAILED, [
      [result(null), "X Layer: okx/Deploy#4"],
      [result([]), UNKNOWN],
      [changed("with a base fee that is no number", (block: object) => ({ ...block, baseFeePerGas: "zz" })), UNKNOWN],
    ]),
    ...group("the only one", only("eth_maxPriorityFeePerGas"), FAILED, [[result("fast"), UNKNOWN]]),
    ...group("the first of two", only("eth_getBlockByNumber"), "the first rests", [[result(null), "INFURA/infura#43"]]),
    ...group("the first of two", only("eth_getTransactionCount"), "the first rests", [[result("0x"), UNKNOWN]]),
    ...group("the first of two", EXECUTION, "it is answered", [
      [result("0x"), "nodes that have not synced: ethereum/go-ethereum#15102, erigontech/erigon#3152"],
    ]),
    ...group("the first of two", EXECUTION, "the first is asked again", [
      [error(-32603, "Internal error", { data: { message: "Internal error" } }), "NomicFoundation/hardhat#8040"],
    ]),
    // What a contract answers is final: the second endpoint would not refuse it.
    ...group("the first of two", EXECUTION, NO_QUORUM, [
      [error(3, "execution reverted", REVERT), "geth: wevm/viem#4092"],
      [error(-32000, "execution reverted", REVERT), "Nethermind: wevm/viem#4092"],
      [
        error(-32015, "VM execution error.", { data: `Reverted ${REVERT.data}` }),
        "Nethermind: cowprotocol/watch-tower#11",
      ],
      [error(-32603, "VM Exception while processing transaction", { data: REVERT }), `Hardhat; ${UNKNOWN}`],
      [error(3, "execution reverted", { ...REVERT, status: 400 }), "Hedera: hiero-ledger/hiero-json-rpc-relay#5443"],
    ]),
    ...group("the first of two", EXECUTION, FAILED, [[error(-32000, "execution reverted"), UNKNOWN]]),
  ],
};
