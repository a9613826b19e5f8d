import { repeat } from "@dataset-oracle/service/process/context";
import type { Address } from "viem";
import type { ProviderUrls } from "./provider-urls.js";
import type { GuardedHttp } from "./providers.js";

const EVERY_MS = 3_600_000;

/** Until when the certificates of a network's providers are valid. */
export class Certificates {
  /** In milliseconds since 1970, as read last; without those that cannot be read. */
  readonly ends = new Map<Address, number>();

  constructor(
    private readonly urls: Pick<ProviderUrls, "urlOf">,
    private readonly http: Pick<GuardedHttp, "certificateEnd">,
  ) {}

  /**
   * Reads them now and every hour, until the operator shuts down.
   *
   * @param membersNow Returns the members of the committees.
   */
  async follow(membersNow: () => readonly Address[], closing: AbortSignal): Promise<void> {
    const refresh = () => this.#read(membersNow());
    await refresh();
    await repeat(EVERY_MS, closing, refresh);
  }

  async #read(members: readonly Address[]): Promise<void> {
    for (const provider of this.ends.keys()) if (!members.includes(provider)) this.ends.delete(provider);
    await Promise.all(
      members.map(async (provider) => {
        const end = await this.http.certificateEnd(this.urls.urlOf(provider) ?? "");
        // One that cannot be reached now may still have the certificate that it had.
        if (end !== null) this.ends.set(provider, end);
      }),
    );
  }
}
