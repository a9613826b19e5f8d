import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { repeat } from "@dataset-oracle/service/process/context";
import type { Logger } from "pino";
import type { Address } from "viem";
import { multicall, readContract } from "viem/actions";
import { hasCode, readTogether } from "../dataset/contract.js";
import type { ChainClient } from "../rpc/client.js";
import { describeError, unwrapRpcError } from "../rpc/rpc-error.js";

/** The directory is read once in this many polls, and at each where that failed. */
const POLLS = 5;

/** The URLs at which the providers of a network are asked: as configured, else as announced in the directory on chain. */
export class ProviderUrls {
  #announced: ReadonlyMap<Address, string> = new Map();

  /** @param configured The base URLs in the configuration, by provider. */
  constructor(
    private readonly logger: Logger,
    private readonly configured: ReadonlyMap<Address, string>,
  ) {}

  /** Returns the base URL of a provider. */
  urlOf(provider: Address): string | undefined {
    return this.configured.get(provider) ?? this.#announced.get(provider);
  }

  /** Returns the host of a provider's URL; empty without one. */
  hostOf(provider: Address): string {
    const url = this.urlOf(provider) ?? "";
    return URL.canParse(url) ? new URL(url).host : "";
  }

  /**
   * Reads what the members of the committees have announced, and keeps it up to date until the operator shuts down.
   *
   * @param membersNow Returns the members of the committees.
   * @throws ConfigError when the directory is not a contract. RpcError when it cannot be read at first; what is known
   * stays when it cannot be read later.
   */
  async follow(
    client: ChainClient,
    directory: Address,
    membersNow: () => readonly Address[],
    pollMs: number,
    closing: AbortSignal,
  ): Promise<void> {
    if (!(await hasCode(client, directory))) {
      throw new ConfigError(
        `network ${client.chain.id}: ${directory}, the committeeDirectory, is not a contract. Correct its address.`,
      );
    }
    const refresh = async () => this.#take(await readAnnouncedUrls(client, directory, membersNow()));
    await refresh();
    let pollsLeft = POLLS;
    void repeat(pollMs, closing, async () => {
      if (--pollsLeft > 0) return;
      try {
        await refresh();
        pollsLeft = POLLS;
      } catch (error) {
        this.logger.debug({ reason: describeError(error) }, "the directory of providers cannot be read");
      }
    });
  }

  #take(announced: ReadonlyMap<Address, string>): void {
    const text = (urls: ReadonlyMap<Address, string>) => JSON.stringify([...urls].toSorted());
    const isChanged = text(announced) !== text(this.#announced);
    this.#announced = announced;
    if (!isChanged) return;
    this.logger.info({ urls: Object.fromEntries(announced) }, "the announced URLs of data providers have changed");
  }
}

const BASE_URL = new RegExp(BASE_URL_PATTERN);

/**
 * Reads the URLs at which providers answer, as each has announced its own in the directory.
 *
 * @returns The base URLs, by provider; without those who announced none, have withdrawn it, or announced no valid URL.
 * @throws RpcError
 */
async function readAnnouncedUrls(
  client: ChainClient,
  directory: Address,
  providers: readonly Address[],
): Promise<ReadonlyMap<Address, string>> {
  const contractOf = (provider: Address) =>
    ({ address: directory, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [provider] }) as const;
  const announced = await readTogether(
    providers,
    (some) => multicall(client, { contracts: some.map(contractOf), deployless: true, allowFailure: false }),
    (provider) => unwrapRpcError(client, "eth_call", readContract(client, contractOf(provider))),
  );
  const urls = announced.flatMap(([url], index) => {
    const isValid = BASE_URL.test(url) && URL.canParse(url);
    return isValid ? [[providers[index] as Address, withoutFinalSlashes(url)] as const] : [];
  });
  return new Map(urls);
}
