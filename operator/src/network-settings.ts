import { resolve } from "node:path";
import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/fixed-addresses";
import { strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { type DeployedContracts, loadDeployment } from "@dataset-oracle/service/config/deployment";
import { range } from "@dataset-oracle/service/config/range";
import { requireAddress } from "@dataset-oracle/service/config/require-address";
import { expandRpcEndpoint, RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { type Static, Type } from "@sinclair/typebox";
import type { Address } from "viem";
import { readChainId } from "./rpc/endpoint.js";
import type { CorePlan, Standing } from "./served-network.js";

/**
 * Returns the pattern of a text of at most this many characters, none of which could disguise it: no control characters
 * and no changes of direction.
 */
export function plainTextPattern(maxLength: number): string {
  return `^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]{1,${maxLength}}$`;
}

const milliseconds = (defaultMs: number, description: string) =>
  Type.Integer({ ...range(1, 60_000, defaultMs), description });

const ProviderSettings = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: plainTextPattern(60),
        description: "What people call the provider. The page and GET /overview show it.",
      }),
    ),
    address: Type.String({ description: "The provider's signing address, a member of a dataset's committee." }),
    url: Type.String({
      pattern: BASE_URL_PATTERN,
      description:
        "The provider's base URL; <url>/report is called. GET /datasets shows it to everyone, so put no secret in it.",
    }),
  },
  strict,
);

/** The core's settings of one network. */
export const networkSettings = {
  deployment: Type.Optional(
    Type.String({
      description: "Path of the deployment file that names the chain id and the datasets, relative to this file.",
    }),
  ),
  datasets: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description:
        "Instead of a deployment file, the addresses of the datasets. The operator reads their kinds and key forms " +
        "from the chain, and looks for the directory of providers at the address that is the same on every network. " +
        "It then knows no keys before they are stored or requested, and no lens.",
    }),
  ),
  networkId: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "The chain id of the network, beside datasets. Without it an RPC endpoint has to answer when the operator " +
        "starts.",
    }),
  ),
  rpcUrls: Type.Array(RpcEndpoint, {
    minItems: 1,
    description:
      "The JSON-RPC endpoints, in order of preference: a URL, in which there may be a user and a password, or an object " +
      `with \`url\` and \`headers\`. \${NAME} is replaced by that environment variable. Never logged.`,
  }),
  providers: Type.Array(ProviderSettings, {
    default: [],
    description:
      "The endpoints of the committees' members. Members not listed are asked at the URLs that they announced in the directory.",
  }),
  gasPerHour: Type.Integer({
    ...range(0, Number.MAX_SAFE_INTEGER, 30_000_000),
    description: "Gas units that broadcasting may use in any hour, for keys that are already stored.",
  }),
  gasPerHourForNewKeys: Type.Integer({
    ...range(0, Number.MAX_SAFE_INTEGER, 10_000_000),
    description:
      "Gas units that broadcasting may use in any hour, for keys that are stored for the first time. A new storage slot " +
      "costs five times as much under Amsterdam's rules as before: docs/Gas.md has what an update uses.",
  }),
  gasPercentPerCaller: Type.Integer({
    ...range(1, 100, 25),
    description: "How much of gasPerHour and of gasPerHourForNewKeys one caller may use, in percent.",
  }),
  gasPerHourForFeeds: Type.Integer({
    ...range(0, Number.MAX_SAFE_INTEGER, 60_000_000),
    description: "Gas units that feeds and accusations may use in any hour. Requests have budgets of their own.",
  }),
  lowBalanceGwei: Type.Integer({
    ...range(0, Number.MAX_SAFE_INTEGER, 50_000_000),
    description:
      "GET /ready reports low_balance when a sender has less than this, in gwei. The log warns once, when the balance is " +
      "read: at startup and for GET /ready and /metrics.",
  }),
  committeeDirectory: Type.Optional(
    Type.String({
      description:
        "The contract in which providers announce their URLs. By default the deployment file's or, without such a " +
        "file, the one at the address that is the same on every network, if there is one.",
    }),
  ),
  allowLocalProviders: Type.Boolean({
    default: false,
    description:
      "True for a development network, whose providers may be announced on this machine. Otherwise only those at " +
      "public https URLs are asked.",
  }),
  sender: Type.String({
    default: "alone",
    description:
      'For whom this operator keeps feeds fresh: "alone" (nobody else does it, so it never waits), the address of ' +
      'a committee member (it stands for that member), or "volunteer" (it sends when no member did).',
  }),
  members: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 255,
      description:
        "The addresses of the committee members that run an operator for these feeds under the same policies. By " +
        "default the whole committee, which has at most 255. A member that does not send is waited for in vain.",
    }),
  ),
  stageMs: milliseconds(
    13_500,
    "How long one operator waits for one of a better rank, in milliseconds: a block interval and 1.5 s. All " +
      "operators of a committee need the same setting.",
  ),
  maxFeePerGasGwei: Type.Integer({
    ...range(1, 1_000_000, 500),
    description: "The maximum fee per gas of a transaction, priority fee included, in gwei.",
  }),
  maxPriorityFeePerGasGwei: Type.Integer({
    ...range(0, 1_000_000, 50),
    description:
      "The maximum priority fee per gas of a new transaction, in gwei, whatever the RPC suggests. A replacement " +
      "may offer twice as much.",
  }),
  minUpdateAgeSeconds: Type.Integer({
    ...range(0, 3_600, 0),
    description:
      "A broadcast request is answered with the stored value, and nothing is sent, if the value is younger than " +
      "this, in seconds; 0 turns this off.",
  }),
  maxPendingPerSender: Type.Integer({
    ...range(1, 10_000, 16),
    description:
      "The maximum number of pending transactions per sender. RPC endpoints have limits of their own, often 16.",
  }),
  stuckSeconds: Type.Integer({
    ...range(1, 3_600, 30),
    description: "How long a transaction may stay unmined before the newest round of its key replaces it, in seconds.",
  }),
  reorgDepth: Type.Integer({
    ...range(1, 1_000, 8),
    description:
      "For how many blocks a mined update is watched. If a reorganization drops it, the newest round is sent.",
  }),
  rpcTimeoutMs: milliseconds(5_000, "The timeout of one call to one RPC endpoint, in milliseconds."),
  rpcPollMs: milliseconds(2_000, "How often the head of each RPC endpoint is checked, in milliseconds."),
  maxHeadLagBlocks: Type.Integer({
    ...range(0, 1_000_000, 10),
    description:
      "An RPC endpoint that is more blocks than this behind the median of all is not read from; of two, it comes last.",
  }),
  maxHeadLagSeconds: Type.Integer({
    ...range(0, 1_000_000, 30),
    description: "The same limit by the timestamps of the heads, in seconds.",
  }),
  providerTimeoutMs: milliseconds(
    7_000,
    "The timeout of one request to one provider, in milliseconds. A provider itself waits up to 5 s for a source.",
  ),
  graceMs: milliseconds(
    500,
    "How long to wait for the remaining providers once a quorum has answered, in milliseconds.",
  ),
};
const CoreNetworkSettings = Type.Object(networkSettings);
type CoreNetworkSettings = Static<typeof CoreNetworkSettings>;

/**
 * Plans a network. It connects to nothing, except to read the chain id of one that has neither a deployment file nor
 * `networkId`.
 *
 * @param at Where it is configured. @param folder Of the configuration file.
 * @throws ConfigError
 */
export async function planCore(
  settings: CoreNetworkSettings,
  at: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<CorePlan> {
  const rpcUrls = settings.rpcUrls.map((given, index) => expandRpcEndpoint(given, `${at}: rpcUrls/${index}`, env));
  const planned = await planDatasets(settings, at, folder, rpcUrls);
  const where = `network ${planned.chainId}`;
  const { committeeDirectory } = settings;
  const directory =
    committeeDirectory === undefined ? null : requireAddress(committeeDirectory, `${where}: committeeDirectory`);
  const requireFit = (_: unknown, found: DeployedContracts) => {
    if (settings.providers.length > 0 || directory !== null || found.committeeDirectory !== undefined) return;
    throw new ConfigError(
      `${where}: providers is empty, and there is no directory. Add the address and url of each committee member, or ` +
        `the committeeDirectory in which they announce their URLs, which most networks have at ${COMMITTEE_DIRECTORY}.`,
    );
  };
  const providerUrls = planProviderUrls(settings, where);
  return {
    ...planned,
    settings,
    rpcUrls,
    directory,
    standing: planStanding(settings, where),
    requireFit,
    providerUrls,
  };
}

function planProviderUrls({ providers }: CoreNetworkSettings, where: string): ReadonlyMap<Address, string> {
  const urls = new Map<Address, string>();
  for (const { address, url } of providers) {
    const at = `${where}: provider ${address}`;
    const parsed = requireAddress(address, at);
    if (!URL.canParse(url)) throw new ConfigError(`${at}: its url cannot be parsed. Correct it.`);
    if (urls.has(parsed)) throw new ConfigError(`${at} is named twice. Keep one.`);
    urls.set(parsed, withoutFinalSlashes(url));
  }
  return urls;
}

/** Reads for whom an operator sends, and with whom it takes turns. */
function planStanding({ sender, members, stageMs }: CoreNetworkSettings, where: string): Standing {
  const isRole = sender === "alone" || sender === "volunteer";
  const parsed = members?.map((text) => requireAddress(text, `${where}: members`)) ?? null;
  requireDistinct(parsed ?? [], `${where}: members`);
  if (isRole) return { role: sender, members: parsed, stageMs };
  const own = requireAddress(sender, `${where}: sender (an address, "alone" or "volunteer")`);
  if (parsed !== null && !parsed.includes(own)) {
    throw new ConfigError(`${where}: sender is ${own}, which is not one of members. Add it there, or correct it.`);
  }
  return { role: own, members: parsed, stageMs };
}

/** Reads which datasets a network has: from its deployment file or, as far as the configuration says it, without one. */
async function planDatasets(
  { deployment, datasets = [], networkId, rpcTimeoutMs }: CoreNetworkSettings,
  at: string,
  folder: string,
  rpcUrls: readonly RpcEndpoint[],
): Promise<Pick<CorePlan, "chainId" | "datasets" | "contracts">> {
  if ((deployment === undefined) === (datasets.length === 0))
    throw new ConfigError(`${at}: set either deployment (a file's path) or datasets (addresses), and not both.`);
  if (deployment !== undefined) {
    const { chainId, datasets: planned, ...contracts } = loadDeployment(resolve(folder, deployment));
    if (networkId !== undefined && networkId !== chainId)
      throw new ConfigError(`${at}: networkId is ${networkId}, but deployment is of network ${chainId}. Correct one.`);
    return { chainId, datasets: planned, contracts };
  }
  const addresses = datasets.map((text, index) => requireAddress(text, `${at}: datasets/${index}`));
  requireDistinct(addresses, `${at}: datasets`);
  const chainId = networkId ?? (await readChainId(rpcUrls, at, rpcTimeoutMs));
  const planned = addresses.map((address) => ({ name: address, address, keys: [] }));
  return { chainId, datasets: planned, contracts: null };
}

export function requireDistinct(all: readonly unknown[], list: string): void {
  const repeated = all.find((one, index) => all.indexOf(one) !== index);
  if (repeated !== undefined) throw new ConfigError(`${list} names ${repeated} twice. Keep one.`);
}
