import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Logger } from "pino";
import type { Address } from "viem";
import { hasCode } from "../dataset/contract.js";
import { readAnnouncedUrls } from "../dataset/provider-directory.js";
import type { ChainClient } from "../rpc/client.js";
import { describeError } from "../rpc/rpc-error.js";

/** The URLs at which the providers of a network are asked: as configured, else as announced in the directory on chain. */
export class ProviderUrls {
  #announced: ReadonlyMap<Address, string> = new Map();

  /** @param configured The base URLs in the configuration, by provider. */
  constructor(
    private readonly configured: ReadonlyMap<Address, string>,
    private readonly logger: Logger,
  ) {}

  /** Returns the base URL of a provider. */
  urlOf(provider: Address): string | undefined {
    return this.configured.get(provider) ?? this.#announced.get(provider);
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
    void this.#poll(refresh, pollMs, closing);
  }

  async #poll(refresh: () => Promise<void>, pollMs: number, closing: AbortSignal): Promise<void> {
    for (;;) {
      await delay(pollMs, undefined, { signal: closing, ref: false }).catch(() => {});
      if (closing.aborted) return;
      await refresh().catch((error: unknown) =>
        this.logger.debug({ reason: describeError(error) }, "the directory of providers cannot be read"),
      );
    }
  }

  #take(announced: ReadonlyMap<Address, string>): void {
    const text = (urls: ReadonlyMap<Address, string>) => JSON.stringify([...urls].toSorted());
    const isChanged = text(announced) !== text(this.#announced);
    this.#announced = announced;
    if (!isChanged) return;
    this.logger.info({ urls: Object.fromEntries(announced) }, "the announced URLs of data providers have changed");
  }
}
