import { NetworkId } from "@dataset-oracle/protocol/http-schemas/fields";
import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/node-url";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Address } from "viem";
import type { GuardedHttp } from "../peers/guarded-http.js";
import { type Node, type Nodes, othersOf } from "../peers/node-list.js";
import { readNodeAnswer } from "../peers/read-node-answer.js";

const DEADLINE_MS = 2_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The part of another node's `GET /datasets` that is read. */
const served = TypeCompiler.Compile(
  Type.Array(
    Type.Object({
      network_id: NetworkId,
      providers: Type.Array(Type.Object({ address: Type.String(), url: Type.String({ pattern: BASE_URL_PATTERN }) })),
    }),
  ),
);

/** The URLs at which the providers of a network are asked: configured, or learned from the providers' own nodes. */
export class ProviderUrls {
  readonly #learned = new Map<Address, string>();

  constructor(
    private readonly chainId: number,
    private readonly configured: ReadonlyMap<Address, string>,
    private readonly nodes: Nodes,
    private readonly http: GuardedHttp,
  ) {}

  /** Returns the base URL of a provider. */
  urlOf(provider: Address): string | undefined {
    return this.configured.get(provider) ?? this.#learned.get(provider);
  }

  /**
   * Asks the nodes of providers without a configured URL for that URL. Each is believed about its own provider only. It
   * never throws: a URL that is known stays.
   *
   * @param isAgain True to ask again for the URLs that are known, too.
   */
  async refresh(isAgain: boolean): Promise<void> {
    const asked = othersOf(this.nodes).filter(({ provider }) => {
      return !this.configured.has(provider) && (isAgain || !this.#learned.has(provider));
    });
    await Promise.all(asked.map((node) => this.#ask(node)));
  }

  async #ask({ provider, url }: Node): Promise<void> {
    const got = await this.http.get(url, "/datasets", { timeoutMs: DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES });
    const datasets = readNodeAnswer(served, got) ?? [];
    const providers = datasets.flatMap(({ network_id, providers }) => (network_id === this.chainId ? providers : []));
    const named = providers.find(({ address }) => address === provider)?.url;
    if (named !== undefined && URL.canParse(named)) this.#learned.set(provider, withoutFinalSlashes(named));
  }
}
