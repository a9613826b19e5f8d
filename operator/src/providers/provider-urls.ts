import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import { NetworkId } from "@dataset-oracle/protocol/http-schemas/fields";
import type { Result } from "@dataset-oracle/protocol/result";
import type { EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure, HttpAnswer } from "@dataset-oracle/service/http-client/fetch-result";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Logger } from "pino";
import type { Address } from "viem";
import type { GuardedHttp } from "../peers/guarded-http.js";
import { type Node, type Nodes, othersOf } from "../peers/node-list.js";
import { readNodeAnswer } from "../peers/read-node-answer.js";
import { describeFetchFailure } from "./describe-fetch-failure.js";

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
  /** The last answer of each node that did not name its provider's URL, by provider. */
  readonly #unnamed = new Map<Address, { readonly node: string; readonly answer: string }>();

  constructor(
    private readonly chainId: number,
    private readonly configured: ReadonlyMap<Address, string>,
    private readonly nodes: Nodes,
    private readonly http: GuardedHttp,
    private readonly logger: Logger,
  ) {}

  /** Returns the base URL of a provider. */
  urlOf(provider: Address): string | undefined {
    return this.configured.get(provider) ?? this.#learned.get(provider);
  }

  /** Returns why a provider has no URL. Completes the sentence "The provider ...". */
  whyUnknown(provider: Address): string {
    const node = othersOf(this.nodes).find((other) => other.provider === provider);
    const unnamed = this.#unnamed.get(provider);
    return node === undefined || node.url !== unnamed?.node
      ? "has no endpoint that this operator knows: the operator's owner must add it to `providers`, or the provider's " +
          "owner announce a node"
      : `has no endpoint that this operator knows, because its node ${node.url} ${unnamed.answer}: the operator's owner ` +
          "can add the endpoint to `providers`";
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
    if (named !== undefined && URL.canParse(named)) {
      this.#learned.set(provider, withoutFinalSlashes(named));
      if (this.#unnamed.delete(provider))
        this.logger.info({ provider, node: url }, "the URL of a data provider is known");
      return;
    }
    if (this.#learned.has(provider) || (!got.ok && got.error.code === "aborted")) return;
    const answer = answerWithoutUrl(got);
    const isLogged = this.#unnamed.get(provider)?.node === url;
    this.#unnamed.set(provider, { node: url, answer });
    if (isLogged) return;
    const fields = { provider, node: url, reason: answer };
    this.logger.warn(fields, "the URL of a data provider is not known: its node did not name it");
  }
}

/** Completes the sentence "The node ...". */
function answerWithoutUrl(answer: Result<HttpAnswer, FetchFailure<EgressFailure>>): string {
  if (!answer.ok) return describeFetchFailure(answer.error);
  const { status } = answer.value;
  return status === 200 ? "does not name it" : `answered HTTP ${status}`;
}
