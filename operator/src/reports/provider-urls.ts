import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Address } from "viem";
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
   * Reads what the members of the committees have announced.
   *
   * @throws RpcError. What is known stays.
   */
  async refresh(client: ChainClient, directory: Address, members: readonly Address[]): Promise<void> {
    const announced = await readAnnouncedUrls(client, directory, members);
    const text = (urls: ReadonlyMap<Address, string>) => JSON.stringify([...urls].toSorted());
    const isChanged = text(announced) !== text(this.#announced);
    this.#announced = announced;
    if (!isChanged) return;
    this.logger.info({ urls: Object.fromEntries(announced) }, "the announced URLs of data providers have changed");
  }

  /**
   * Keeps the announced URLs up to date until the operator shuts down. It never throws.
   *
   * @param membersNow Returns the members of the committees.
   */
  async follow(
    client: ChainClient,
    directory: Address,
    membersNow: () => readonly Address[],
    pollMs: number,
    closing: AbortSignal,
  ): Promise<void> {
    while (!closing.aborted) {
      await delay(pollMs, undefined, { signal: closing, ref: false }).catch(() => {});
      if (closing.aborted) return;
      await this.refresh(client, directory, membersNow()).catch((error: unknown) =>
        this.logger.debug({ reason: describeError(error) }, "the directory of providers cannot be read"),
      );
    }
  }
}
