import { repeat } from "@dataset-oracle/service/process/context";
import type { Address } from "viem";
import type { ProviderUrls } from "./provider-urls.js";
import type { GuardedHttp } from "./providers.js";

const EVERY_MS = 3_600_000;

/** Until when the certificates of a network's providers are valid. */
export class Certificates {
  readonly #read = new Map<Address, { readonly url: string; readonly end: number }>();

  constructor(
    private readonly urls: Pick<ProviderUrls, "urlOf">,
    private readonly http: Pick<GuardedHttp, "certificateEnd">,
  ) {}

  /** In milliseconds since 1970, as read last at the providers' present URLs; without those that cannot be read. */
  get ends(): ReadonlyMap<Address, number> {
    const present = [...this.#read].filter(([provider, { url }]) => url === this.urls.urlOf(provider));
    return new Map(present.map(([provider, { end }]) => [provider, end]));
  }

  /**
   * Reads them now and every hour, until the operator shuts down.
   *
   * @param membersNow Returns the members of the committees.
   */
  async follow(membersNow: () => readonly Address[], closing: AbortSignal): Promise<void> {
    const refresh = () => this.#refresh(membersNow());
    await refresh();
    await repeat(EVERY_MS, closing, refresh);
  }

  async #refresh(members: readonly Address[]): Promise<void> {
    for (const provider of this.#read.keys()) if (!members.includes(provider)) this.#read.delete(provider);
    await Promise.all(
      members.map(async (provider) => {
        const url = this.urls.urlOf(provider) ?? "";
        const end = await this.http.certificateEnd(url);
        // One that cannot be reached now may still have the certificate that it had.
        if (end !== null) this.#read.set(provider, { url, end });
      }),
    );
  }
}
