import { orNull } from "@dataset-oracle/protocol/http-schemas/fields";
import { type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

/** A regular expression overflows its stack on a few megabytes, so length comes first. No contract of ours returns as much. */
const MAX_DIGITS = 2 ** 21;
/** Twice what the largest event needs, which lists a committee of 255. */
const MAX_LOG_DIGITS = 2 ** 15;

const hex = (pattern: string, maxLength = MAX_DIGITS) => Type.String({ pattern, maxLength });

/** At most 2^53 - 1, so that it is exact as a number, too. */
const Quantity = hex("^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,12}|1[0-9a-fA-F]{13})$");
/** At most 2^256 - 1. */
const Wei = hex("^0x[0-9a-fA-F]{1,64}$");
const Bytes32 = hex("^0x[0-9a-fA-F]{64}$");
/** Whole bytes. */
const BYTES = "^0x(?:[0-9a-fA-F]{2})*$";
const Data = hex(BYTES);
/** What contracts return. Some endpoints give what a call reverted with as its result. */
const Words = hex("^0x(?:[0-9a-fA-F]{64})*$");
const AccountAddress = hex("^0x[0-9a-fA-F]{40}$");

const Block = Type.Object({
  number: Quantity,
  hash: Bytes32,
  timestamp: Quantity,
  gasLimit: Quantity,
  baseFeePerGas: Type.Optional(orNull(Quantity)),
});

const Log = Type.Object({
  data: hex(BYTES, MAX_LOG_DIGITS),
  topics: Type.Array(Bytes32, { minItems: 1, maxItems: 4 }),
  transactionHash: Bytes32,
  blockNumber: Quantity,
  blockHash: Bytes32,
  logIndex: Quantity,
});

const Transaction = Type.Object({
  hash: Bytes32,
  from: AccountAddress,
  nonce: Quantity,
  to: orNull(AccountAddress),
  input: Data,
  gas: Wei,
  gasPrice: Type.Optional(orNull(Wei)),
  maxFeePerGas: Type.Optional(orNull(Wei)),
  maxPriorityFeePerGas: Type.Optional(orNull(Wei)),
});

const ByNonce = Type.Record(Type.String(), Transaction);

const Receipt = Type.Object({
  blockNumber: Quantity,
  blockHash: Bytes32,
  status: Quantity,
  gasUsed: Quantity,
  logs: Type.Array(Type.Unknown()),
});

/** Of one block with one call. Some nodes have what a call reverted with in its error only. */
const Simulated = Type.Object({
  status: Quantity,
  returnData: Data,
  gasUsed: Quantity,
  error: Type.Optional(orNull(Type.Object({ data: Type.Optional(orNull(Data)) }))),
});

const RESULT_SCHEMAS: Record<string, TSchema> = {
  eth_blockNumber: Quantity,
  eth_call: Words,
  eth_chainId: Quantity,
  eth_estimateGas: Quantity,
  eth_gasPrice: Quantity,
  eth_getBalance: Wei,
  eth_getBlockByNumber: Block,
  eth_getCode: Data,
  eth_getLogs: Type.Array(Log),
  eth_getTransactionByHash: orNull(Transaction),
  eth_getTransactionBySenderAndNonce: orNull(Transaction),
  eth_getTransactionCount: Quantity,
  eth_getTransactionReceipt: orNull(Receipt),
  eth_maxPriorityFeePerGas: Quantity,
  eth_sendRawTransaction: Bytes32,
  eth_simulateV1: Type.Tuple([Type.Object({ calls: Type.Tuple([Simulated]) })]),
  txpool_contentFrom: Type.Object({ pending: ByNonce, queued: ByNonce }),
};

const CHECKS = new Map(Object.entries(RESULT_SCHEMAS).map(([method, shape]) => [method, TypeCompiler.Compile(shape)]));

/**
 * Reports whether a node's answer has the shape that its JSON-RPC method requires, in as much of it as we use. A method
 * that is not listed may answer anything.
 */
export function matchesResultSchema(method: string, params: readonly unknown[], answer: unknown): boolean {
  // A chain always has a latest block; one that is named by number can be missing.
  const isNumbered = method === "eth_getBlockByNumber" && String(params[0]).startsWith("0x");
  return (isNumbered && answer === null) || (CHECKS.get(method)?.Check(answer) ?? true);
}
