import {
  type Address,
  BaseError,
  type BlockTag,
  type Client,
  ContractFunctionRevertedError,
  type JsonRpcAccount,
  zeroAddress,
} from "viem";
import { readContract } from "viem/actions";
import { datasetAbi } from "../abi/dataset.js";
import { verifiedLensAbi } from "../abi/verified-lens.js";
import { parseKey } from "../dataset-key.js";
import { askGateways } from "./ask-gateways.js";
import { type QueryResult, readQueryResult } from "./query-result.js";

/** Without `from`, some nodes fill in a sender of their own, and a call with a sender has to pay. */
const NO_SENDER: JsonRpcAccount = { address: zeroAddress, type: "json-rpc" };

/** The lens passes on the errors of the dataset. */
const ABI = [...verifiedLensAbi, ...datasetAbi.filter(({ type }) => type === "error")] as const;

/** The data point to read, and how old its value may be. */
export interface ReadVerifiedParameters {
  /** The address of a `VerifiedLens` on the dataset's network. */
  readonly lens: Address;
  /** The dataset's address. */
  readonly dataset: Address;
  /** The key in ASCII, for example `SPOTPX/ETH-USD`, or in hex after `0x`, as `spotPriceKey` gives it. */
  readonly key: string;
  /**
   * The maximum age of the value when it is read, in seconds. A stored value of at most this age is returned as it is;
   * for an older one a gateway is asked. Allow more than the time between blocks.
   */
  readonly maxAge: number | bigint;
  /** The state that is read: `latest` by default. */
  readonly blockTag?: BlockTag;
  /**
   * How long each gateway is waited for before the next one is asked, in milliseconds: 45,000 by default, because a
   * gateway waits for the block of its round, up to 30 s on Ethereum.
   */
  readonly gatewayTimeoutMs?: number;
}

/**
 * Reads a value that is at most `maxAge` seconds old and proven by the committee's signatures, without a transaction and
 * without payment. The lens's gateways are asked in turn (ERC-3668), and the dataset verifies what they answer in the
 * same `eth_call`: no gateway and no operator has to be trusted, only the RPC.
 *
 * @param client Any viem client of the dataset's network. Its account is not used: the call names the zero address as
 * its sender, because one with another sender has to pay.
 * @throws An Error if the key is invalid; viem's `ContractFunctionExecutionError` if no gateway answers, a gateway's answer
 * proves nothing, the value is older than `maxAge`, or the RPC fails. Its `shortMessage` names the cause.
 */
export async function readVerified(
  client: Client,
  { lens, dataset, key: text, maxAge, gatewayTimeoutMs = 45_000, ...state }: ReadVerifiedParameters,
): Promise<QueryResult> {
  const key = parseKey(text);
  if (!key.ok) throw new Error(key.error);
  const ccipRead: Client["ccipRead"] = { request: (lookup) => askGateways(lookup, gatewayTimeoutMs) };
  // viem would prefer the client's own `call`, which has the client's account.
  const ownSettings: Client & { call: undefined } = { ...client, account: NO_SENDER, ccipRead, call: undefined };
  const answer = await readContract(ownSettings, {
    address: lens,
    abi: ABI,
    functionName: "read",
    args: [dataset, key.value, BigInt(maxAge)],
    ...state,
  }).catch((error: unknown) => {
    throw namingCause(error);
  });
  return readQueryResult(...answer);
}

/** viem's short message of a revert does not name the contract's error, so it is added here. */
function namingCause(error: unknown): unknown {
  const reverted = error instanceof BaseError && error.walk((each) => each instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError) || reverted.signature) return error;
  const { data } = reverted;
  const cause = data
    ? `with ${data.errorName}(${data.args?.join(", ") ?? ""})`
    : "without a reason: check the addresses of the lens and the dataset";
  (error as BaseError).shortMessage = `The contract function "read" reverted ${cause}.`;
  return error;
}
