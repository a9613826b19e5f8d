import { ConfigError, TransientError } from "@dataset-oracle/service/config/config-error";
import { requireAddress } from "@dataset-oracle/service/config/require-address";
import { expandRpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { type AccountOwner, loadAccount } from "@dataset-oracle/service/keys/find-accounts";
import { rpcTransport } from "@dataset-oracle/service/trusted/rpc-transport";
import { type Address, createPublicClient, createWalletClient, type Hex, type PublicClient } from "viem";

export const PUBLISHER: AccountOwner = { name: "PUBLISHER", signs: "anything" };

/** Reaches the endpoint that `--rpc-url` names, in which `${NAME}` stands for a variable. @throws ConfigError */
export const transportTo = (url: string) => rpcTransport(expandRpcEndpoint(url, "--rpc-url", process.env), 10_000);

/** Calls an endpoint. Its error leaves out most of viem's message, which contains the endpoint's URL and so perhaps a token. */
export async function callRpc<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { details, name } = error as { details?: string; name?: string };
    throw new TransientError(`The RPC endpoint failed or refused the call: ${details || name}. Check --rpc-url.`);
  }
}

const MINED_MS = 120_000;

/** A contract call that sends no Ether. */
interface CallRequest {
  readonly to: Address;
  readonly data: Hex;
}

/** The network that calls are sent to, and the account that pays for them. */
interface TransactionSender {
  readonly chainId: number;
  /** The file that names the network, or the option, without its value, which may contain a token: for errors. */
  readonly namedBy: string;
  readonly rpcUrl: string;
  /** An unlocked account of the endpoint. By default the account that the environment's PUBLISHER variables name. */
  readonly from: string | undefined;
}

/** Describes a transaction, which sends no Ether, for a person who sends it with another program. */
export function describeTransaction(chainId: number, { to, data }: CallRequest): string {
  return [
    "Nothing was sent. The transaction:",
    JSON.stringify({ chainId, to, data }, null, 2),
    "",
    "To send it with cast, from a keystore, through the endpoint that ETH_RPC_URL names:",
    `cast send ${to} ${data} --account <keystore>`,
  ].join("\n");
}

/**
 * Connects to the endpoint of the network and loads the account.
 *
 * @returns A client of the endpoint, and a function that sends calls, one transaction each, waits until all are mined,
 * and returns the transaction and the block of each.
 * @throws ConfigError
 */
export async function connectSender(
  { chainId, namedBy, rpcUrl, from }: TransactionSender,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly client: PublicClient; readonly send: (calls: readonly CallRequest[]) => Promise<MinedCall[]> }> {
  const account =
    from === undefined
      ? (await loadAccount(env, PUBLISHER, ["--from to an unlocked account of the endpoint"])).account
      : requireAddress(from, "--from");
  const transport = transportTo(rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const endpointChainId = await callRpc(() => client.getChainId());
  if (endpointChainId !== chainId)
    throw new ConfigError(
      `The endpoint belongs to network ${endpointChainId}, but ${namedBy} to network ${chainId}. Change one of them.`,
    );
  const wallet = createWalletClient({ account, transport });
  const address = typeof account === "string" ? account : account.address;
  const sendCall = async ({ to, data }: CallRequest) => {
    try {
      return await wallet.sendTransaction({ to, data, chain: null });
    } catch (error) {
      const { details = "" } = error as { details?: string };
      if (from !== undefined && /no signer|unknown account/i.test(details))
        throw new ConfigError(`--from: ${address} is not an unlocked account of the endpoint. Name one that is.`);
      if (!/insufficient funds|exceeds allowance/i.test(details)) throw error;
      throw new ConfigError(
        `The account ${address} has too little Ether on network ${chainId} to pay for the transaction. Send it some, ` +
          "or use another account.",
      );
    }
  };
  const send = async (calls: readonly CallRequest[]) => {
    const sent: Hex[] = [];
    for (const call of calls) sent.push(await callRpc(() => sendCall(call)));
    return Promise.all(sent.map((transaction) => untilMined(client, transaction)));
  };
  return { client, send };
}

type MinedCall = Awaited<ReturnType<typeof untilMined>>;

async function untilMined(client: PublicClient, transaction: Hex) {
  const receipt = await callRpc(() => client.waitForTransactionReceipt({ hash: transaction, timeout: MINED_MS }));
  if (receipt.status !== "success") {
    // A ConfigError redacts 64 hex digits, which could be a private key.
    console.error(`reverted: ${transaction}`);
    throw new ConfigError("The transaction reverted. To see why, pass its hash to: cast run HASH");
  }
  return { transaction, block: receipt.blockNumber };
}
