import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Agent, request } from "undici";
import {
  type Address,
  type Hex,
  isAddressEqual,
  isHex,
  type LocalAccount,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from "viem";
import { toAccount } from "viem/accounts";
import { ConfigError } from "../config/config-error.js";
import { expandRpcUrl } from "../config/expand-rpc-url.js";
import { requireAddress } from "../config/require-address.js";
import { fileOf, permissionWarnings, readSecretFile } from "../config/secret-file.js";
import { withDeadline } from "../process/context.js";
import { endedBy } from "../process/fetch-result.js";
import { jsonRpcCall, readJsonRpcAnswer } from "../trusted/json-rpc.js";
import { urlRemover } from "../trusted/url-remover.js";
import type { AccountSource } from "./account-source.js";

/** The deadline of each call to a signer. Services that keep keys sign within a second. */
const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Takes accounts whose keys are in a signer outside this process, which speaks JSON-RPC as Web3Signer does:
 * `eth_accounts` and `eth_signTransaction`. They sign nothing but transactions.
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
    async load(env, closing) {
      const { [names.url]: given, [names.addresses]: text } = env;
      if (given === undefined || text === undefined) {
        throw new ConfigError(`A signer needs both ${names.url} and ${names.addresses}. Set both.`);
      }
      const url = expandRpcUrl(given, names.url, env);
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
  readonly #headers: Readonly<Record<string, string>>;
  readonly #connections: Agent;
  readonly #withoutSecrets: (text: string) => string;
  /** The accounts that the signer was found to have. */
  readonly #found = new Set<Address>();

  constructor(
    private readonly url: string,
    authorization: string | undefined,
    ca: string | undefined,
    private readonly closing: AbortSignal,
  ) {
    this.#headers = { "content-type": "application/json", ...(authorization !== undefined && { authorization }) };
    // Each call has a connection of its own: a signer closes idle ones, and a call that fails is a request that fails.
    this.#connections = new Agent({
      pipelining: 0,
      maxResponseSize: MAX_ANSWER_BYTES,
      connect: ca === undefined ? {} : { ca },
    });
    this.#withoutSecrets = urlRemover(url, authorization?.split(" "));
  }

  accountOf(address: Address): LocalAccount {
    const refuse = async (): Promise<never> => {
      throw new Error("An account of a remote signer signs only transactions.");
    };
    return toAccount({
      address,
      signMessage: refuse,
      signTypedData: refuse,
      signTransaction: async (transaction) => {
        if (!this.#found.has(address) && (await this.findMissing([address])).length > 0) {
          throw new Error(`eth_accounts: the signer does not have ${address}`);
        }
        const result = await this.#call("eth_signTransaction", [toParameters(transaction, address)]);
        return requireSigned(result, transaction, address);
      },
    });
  }

  /** Returns those addresses that the signer does not list. @throws Error when it does not answer. */
  async findMissing(addresses: readonly Address[]): Promise<readonly Address[]> {
    const listed = await this.#call("eth_accounts", []);
    if (!Array.isArray(listed)) throw new Error("eth_accounts: answered no list");
    const all = new Set(listed.map((one) => String(one).toLowerCase()));
    for (const address of addresses) if (all.has(address.toLowerCase())) this.#found.add(address);
    return addresses.filter((address) => !this.#found.has(address));
  }

  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    const fail = (reason: string) => new Error(`${method}: ${this.#withoutSecrets(reason).slice(0, 300)}`);
    const { status, text } = await withDeadline(TIMEOUT_MS, this.closing, async (signal) => {
      try {
        const answer = await request(this.url, {
          method: "POST",
          headers: this.#headers,
          body: jsonRpcCall(method, params),
          dispatcher: this.#connections,
          signal,
        });
        return { status: answer.statusCode, text: await answer.body.text() };
      } catch (error) {
        const { name, message, code } = error as NodeJS.ErrnoException;
        throw fail(signal.aborted ? endedBy(signal, TIMEOUT_MS).detail : message || (code ?? name));
      }
    });
    const read = readJsonRpcAnswer(text);
    if (read === null) throw fail(`answered HTTP ${status} without a JSON-RPC answer`);
    if ("code" in read) throw fail(`answered ${read.code}: ${read.message}`);
    return read.result;
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

/**
 * Checks that a signer signed exactly the transaction that it was given, as the account.
 *
 * @param result The signed transaction, or an object with it as `raw`.
 * @throws Error that names what differs.
 */
async function requireSigned(result: unknown, transaction: TransactionSerializable, address: Address): Promise<Hex> {
  const raw = typeof result === "object" && result !== null && "raw" in result ? result.raw : result;
  const asked = parseTransaction(serializeTransaction(transaction));
  const signed = await decode(raw);
  if (signed === null || !isHex(raw)) throw new Error("eth_signTransaction: answered no signed transaction");
  const differences = Object.keys({ ...asked, ...signed.content }).filter(
    (name) => !isDeepStrictEqual(asked[name as keyof typeof asked], signed.content[name]),
  );
  if (differences.length > 0) {
    throw new Error(`eth_signTransaction: signed another transaction: ${differences.join(", ")} differ`);
  }
  if (!isAddressEqual(signed.signer, address)) {
    throw new Error(`eth_signTransaction: signed as ${signed.signer}, not as ${address}`);
  }
  return raw;
}

/** Returns what was signed, and by whom; null for something else than a signed transaction. */
async function decode(raw: unknown) {
  try {
    const serializedTransaction = raw as TransactionSerialized;
    const { r, s, v, yParity, ...content } = parseTransaction(serializedTransaction) as Record<string, unknown>;
    return { content, signer: await recoverTransactionAddress({ serializedTransaction }) };
  } catch {
    return null;
  }
}
