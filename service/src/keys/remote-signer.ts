import { X509Certificate } from "node:crypto";
import { Agent } from "undici";
import { type Address, type Hex, type LocalAccount, numberToHex, type TransactionSerializable } from "viem";
import { ConfigError } from "../config/config-error.js";
import { requireAddress } from "../config/require-address.js";
import { addressOf, expandRpcEndpoint } from "../config/rpc-endpoint.js";
import { fileOf, permissionWarnings, readSecretFile } from "../config/secret-file.js";
import { callJsonRpc, type JsonRpcService } from "../trusted/json-rpc.js";
import { urlRemover } from "../trusted/url-remover.js";
import { type AccountSource, accountOfSigner } from "./account-source.js";

/** "Method not found" and "method not supported", by JSON-RPC and EIP-1474. */
const UNKNOWN_METHOD = [-32_601, -32_004];
/** Of each call to a signer. Services that keep keys sign within a second. */
const LIMITS = { timeoutMs: 5_000, maxBytes: 1024 * 1024 };

/**
 * Takes accounts whose keys are in a signer outside this process, which speaks JSON-RPC as Web3Signer does:
 * `eth_signTransaction` and, where it lists its accounts, `eth_accounts`.
 *
 * @param suffix Follows the variables' names: `_42` makes `OPERATOR_SIGNER_URL_42`.
 */
export function remoteSigner(owner: string, suffix: string): AccountSource {
  const names = {
    addresses: `${owner}_SIGNER_ADDRESS${suffix}`,
    url: `${owner}_SIGNER_URL${suffix}`,
    authorization: `${owner}_SIGNER_AUTHORIZATION${suffix}_FILE`,
    ca: `${owner}_SIGNER_CA${suffix}_FILE`,
  };
  return {
    variables: Object.values(names),
    secrets: [names.url],
    value: "the address of an account whose key a signer holds",
    help:
      "The second is the URL of the signer, which speaks JSON-RPC as Web3Signer does. The others are paths of files with " +
      "the Authorization header for the signer, and with the certificate in PEM that signed the signer's.",
    signsOnlyTransactions: true,
    async load(env, closing) {
      const { [names.url]: given, [names.addresses]: text } = env;
      if (given === undefined || text === undefined) {
        throw new ConfigError(`A signer needs both ${names.url} and ${names.addresses}. Set both.`);
      }
      const url = expandRpcEndpoint(given, names.url, env);
      const addresses = text
        .trim()
        .split(/[\s,]+/)
        .map((address) => requireAddress(address, names.addresses));
      const { [names.authorization]: authorizationFile, [names.ca]: caFile } = env;
      const authorization =
        authorizationFile === undefined ? undefined : readAuthorization(authorizationFile, names.authorization);
      const ca = caFile === undefined ? undefined : readCertificate(caFile, names.ca);
      const signer = new RemoteSigner(url, authorization, ca, closing);
      return {
        accounts: addresses.map((address) => signer.accountOf(address)),
        warnings:
          authorizationFile === undefined ? [] : permissionWarnings(authorizationFile, fileOf(names.authorization)),
        async check() {
          const missing = await signer.findMissing(addresses);
          if (missing.length > 0) {
            throw new ConfigError(
              `The signer at ${names.url} does not have ${missing.join(", ")}. Correct ${names.addresses}, or give the ` +
                "signer the key.",
            );
          }
        },
      };
    },
  };
}

function readAuthorization(path: string, variable: string): string {
  const value = readSecretFile(path, variable).trim();
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  throw new ConfigError(
    `${fileOf(variable)} does not hold the value of an Authorization header. Write it in one line.`,
  );
}

function readCertificate(path: string, variable: string): string {
  const pem = readSecretFile(path, variable);
  try {
    new X509Certificate(pem);
    return pem;
  } catch {
    throw new ConfigError(`${fileOf(variable)} does not hold a certificate. Write it in PEM.`);
  }
}

/** Calls one signer. Its errors name neither its URL nor the credential. */
class RemoteSigner {
  readonly #service: JsonRpcService;
  readonly #withoutSecrets: (text: string) => string;
  /** The accounts that the signer was found to have. */
  readonly #found = new Set<Address>();

  constructor(given: string, authorization: string | undefined, ca: string | undefined, closing: AbortSignal) {
    // Each call has a connection of its own: a signer closes idle ones, and a call that fails is a request that fails.
    const dispatcher = new Agent({ pipelining: 0, connect: ca === undefined ? {} : { ca } });
    const { url, headers: own, secrets } = addressOf(given);
    const headers = authorization === undefined ? own : { authorization };
    this.#service = { url, headers, limits: LIMITS, dispatcher, closing };
    this.#withoutSecrets = urlRemover(url, [...secrets, ...(authorization?.split(" ") ?? [])]);
  }

  accountOf(address: Address): LocalAccount {
    return accountOfSigner(address, async (transaction) => {
      if (!this.#found.has(address) && (await this.findMissing([address])).length > 0) {
        throw new Error(`eth_accounts: the signer does not have ${address}`);
      }
      return this.#call("eth_signTransaction", [toParameters(transaction, address)]);
    });
  }

  /** Returns those addresses that the signer does not list. @throws Error when it does not answer. */
  async findMissing(addresses: readonly Address[]): Promise<readonly Address[]> {
    const listed = await this.#call("eth_accounts", [], UNKNOWN_METHOD);
    if (listed !== undefined && !Array.isArray(listed)) throw new Error("eth_accounts: answered no list");
    // One that only signs is believed: who has signed is looked at each time.
    const all = new Set((listed ?? addresses).map((one) => String(one).toLowerCase()));
    for (const address of addresses) if (all.has(address.toLowerCase())) this.#found.add(address);
    return addresses.filter((address) => !this.#found.has(address));
  }

  /** @param accepted The codes of errors for which it returns undefined. */
  async #call(method: string, params: readonly unknown[], accepted: readonly number[] = []): Promise<unknown> {
    const fail = (reason: string) => new Error(`${method}: ${this.#withoutSecrets(reason).slice(0, 300)}`);
    const called = await callJsonRpc(this.#service, method, params);
    if (!called.ok) throw fail(called.error.detail);
    const { answer, unusable } = called.value;
    if (answer === null) throw fail(unusable);
    if ("code" in answer && accepted.includes(answer.code)) return undefined;
    if ("code" in answer) throw fail(`answered ${answer.code}: ${answer.message}`);
    return answer.result;
  }
}

/** Writes a transaction as the parameter of `eth_signTransaction`. */
function toParameters(transaction: TransactionSerializable, from: Address) {
  const { to, data, chainId, nonce, gas, value, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const amounts = { chainId, nonce, gas, value, gasPrice, maxFeePerGas, maxPriorityFeePerGas };
  const quantities = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
  const inHex = quantities.map(([name, amount]) => [name, numberToHex(amount ?? 0)]);
  return { from, to, data, ...(Object.fromEntries(inHex) as Record<string, Hex>) };
}
