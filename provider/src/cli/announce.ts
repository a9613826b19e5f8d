import { BASE_URL_PATTERN, isLocalUrl } from "@dataset-oracle/protocol/base-url";
import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/fixed-addresses";
import {
  encodeAnnouncement,
  MAX_ANNOUNCED_URL_BYTES,
  signAnnouncement,
} from "@dataset-oracle/protocol/node-announcement";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { loadAccount } from "@dataset-oracle/service/keys/find-accounts";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { SYSTEM_CLOCK, secondsOf } from "@dataset-oracle/service/process/context";
import { parseHttpsUrl } from "@dataset-oracle/service/untrusted/https-url";
import { createPublicClient } from "viem";
import { PROVIDER } from "../load-setup.js";
import { callRpc, connectSender, describeTransaction, transportTo } from "./transactions.js";
import { ANNOUNCE_USAGE } from "./usage.js";

const OPTIONS = {
  deployment: { type: "string" },
  url: { type: "string" },
  withdraw: { type: "boolean" },
  "rpc-url": { type: "string" },
  from: { type: "string" },
  "allow-local": { type: "boolean" },
} as const;

type AnnounceOptions = ReturnType<typeof parseCommandLine<typeof OPTIONS>>["values"];

/**
 * How far behind the clock the time of an announcement is set, in seconds. The directory refuses one that is later than
 * the block, and an RPC node simulates the transaction at the time of its latest block.
 */
const BEHIND_CLOCK = 60n;

/** Runs `provider announce`: signs where the provider answers, and prints the transaction or sends it. */
export async function announceUrl(args: readonly string[]): Promise<void> {
  const { values: options, positionals } = parseCommandLine(args, ANNOUNCE_USAGE, OPTIONS);
  if (positionals.length > 0)
    throw new ConfigError(`announce takes only options. Write each value after its option.\n\n${ANNOUNCE_USAGE}`);
  const url = readUrl(options);
  const { deployment, "rpc-url": rpcUrl, from } = options;
  const { chainId, address, namedBy } = await findCommitteeDirectory(deployment, rpcUrl);

  const { account } = await loadAccount(process.env, PROVIDER);
  const announcement = { url, provider: account.address, issuedAt: secondsOf(SYSTEM_CLOCK) - BEHIND_CLOCK };
  const signature = await signAnnouncement(account, { chainId, address }, announcement);
  const call = { to: address, data: encodeAnnouncement(announcement, signature) };
  if (rpcUrl === undefined) return console.log(describeTransaction(chainId, call));
  const sender = await connectSender({ chainId, namedBy, rpcUrl, from }, process.env);
  const [mined] = await sender.send([call]);
  const what = url === "" ? "Withdrew the URL" : `Announced the URL ${url}`;
  console.log(
    `${what} of provider ${account.address} on network ${chainId} in block ${mined?.block} (${mined?.transaction}).`,
  );
}

/**
 * Reads the URL, and checks that operators ask it once it is announced.
 *
 * @returns "" to withdraw it.
 * @throws ConfigError
 */
function readUrl(options: AnnounceOptions): string {
  if (options.withdraw === true) {
    if (options.url !== undefined)
      throw new ConfigError("--withdraw announces that your provider has no URL any more. Leave out --url.");
    return "";
  }
  if (options.url === undefined)
    throw new ConfigError(`Give the URL at which your provider answers: --url URL.\n\n${ANNOUNCE_USAGE}`);
  const text = options.url;
  // A user name or a password is refused, because everybody can read what is announced.
  if (!new RegExp(BASE_URL_PATTERN).test(text))
    throw new ConfigError(
      '--url is not an https URL without white space, "@", "?" and "#". Write one, such as https://provider.example.',
    );
  const allowed = parseHttpsUrl(text);
  if (!allowed.ok && !(options["allow-local"] === true && isLocalUrl(text)))
    throw new ConfigError(
      "--url: operators ask an announced URL only by https, on port 443 of a public host. " +
        `${allowed.error} On a development network whose operators set allowLocalProviders, add --allow-local for an http ` +
        "URL of this machine.",
    );
  const { length } = new TextEncoder().encode(text);
  if (length > MAX_ANNOUNCED_URL_BYTES)
    throw new ConfigError(
      `--url has ${length} bytes, but the directory takes at most ${MAX_ANNOUNCED_URL_BYTES}. Use a shorter URL.`,
    );
  return text;
}

/**
 * Finds the directory of a network: in its deployment file or, without one, by asking an endpoint whether there is one
 * at the address that the deterministic deployment proxy gives to the directory on every network.
 *
 * @throws ConfigError
 */
async function findCommitteeDirectory(deploymentFile: string | undefined, rpcUrl: string | undefined) {
  if (deploymentFile !== undefined) {
    const { chainId, committeeDirectory } = loadDeployment(deploymentFile);
    if (committeeDirectory === undefined)
      throw new ConfigError(
        `${deploymentFile} has no committeeDirectory. Add the address of the directory of network ${chainId}.`,
      );
    return { chainId, address: committeeDirectory, namedBy: deploymentFile };
  }
  if (rpcUrl === undefined) throw new ConfigError("Name the network: --rpc-url URL or --deployment FILE.");
  const client = createPublicClient({ transport: transportTo(rpcUrl) });
  const chainId = await callRpc(() => client.getChainId());
  const code = await callRpc(() => client.getCode({ address: COMMITTEE_DIRECTORY }));
  if (code === undefined)
    throw new ConfigError(
      `Network ${chainId} has no directory at ${COMMITTEE_DIRECTORY}. If it has one at another address, use ` +
        "--deployment FILE with a deployment file that names it.",
    );
  return { chainId, address: COMMITTEE_DIRECTORY, namedBy: "--rpc-url" };
}
