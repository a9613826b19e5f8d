import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import {
  type DatasetOverview,
  type NetworkOverview,
  OverviewAnswer,
  type PublishedSpec,
  type ServedPoint,
  type ValueFormat,
} from "@dataset-oracle/protocol/http-schemas/overview";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/openapi";
import type { Clock } from "@dataset-oracle/service/process/context";
import { getAddress, type Hex } from "viem";
import { readView } from "../../dataset/contract.js";
import type { Dataset } from "../../dataset/dataset.js";
import { readManyStored } from "../../dataset/stored-values.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { readHead } from "../../rpc/blocks.js";
import { nullFor, RpcError } from "../../rpc/rpc-error.js";
import type { ServedNetwork } from "../../served-network.js";
import { SingleFlight } from "../../single-flight.js";
import { PastUpdates } from "./past-updates.js";
import type { PagePlan } from "./settings.js";
import { PublishedSpecs } from "./specs.js";

const schema = {
  tags: ["data"],
  operationId: "readOverview",
  summary: "Lists everything that is served, with the values that are stored now.",
  description: "The operator's page shows it. A network that cannot be read now is listed without values.",
  response: {
    200: jsonAnswer("The networks, their datasets and their data points.", OverviewAnswer),
    ...problemsOf("readOverview"),
  },
};

/** How long an answer is reused before a network is read again. */
const REMEMBER_MS = 1_000;

/** Adds `GET /overview`. Its rate limit is its own, so that looking does not use up the data requests of a caller. */
export function addOverview(app: App, shown: ReadonlyMap<number, ShownNetwork>, requestsPerMinute: number): void {
  const { clock } = app.operator.context;
  const shared = new SingleFlight<NetworkOverview>(clock, { rememberMs: REMEMBER_MS });
  const config = { rate: { name: "overview", perMinute: requestsPerMinute } };
  app.get("/overview", { schema, config }, async (): Promise<OverviewAnswer> => {
    const networks = [...shown].map(([chainId, network]) => shared.run(String(chainId), () => network.read()).result);
    return { time: Math.floor(clock.now() / 1000), networks: await Promise.all(networks) };
  });
}

/** A rate, scaled as `usingOracleProtocol` returns it. */
const SPOT_PRICE_FORMAT: ValueFormat = { title: null, type: "uint", decimals: 18, unit: null, sources: [] };

/** The maximum number of data points that are shown of one dataset. */
const MAX_POINTS = 500;

/** Finds the network of a dataset. */
export type ShownNetworkOf = (dataset: Dataset) => ShownNetwork;

/** A network as it is shown, with the values that are stored now. */
export class ShownNetwork {
  readonly past: PastUpdates;
  /** Null where the deployment names no registry of request specs. */
  readonly #specs: PublishedSpecs | null;

  constructor(
    private readonly network: ServedNetwork,
    clock: Clock,
    readonly plan: PagePlan,
  ) {
    const { client } = network;
    const registry = network.contracts.webOracleRegistry;
    this.past = new PastUpdates(client, clock);
    this.#specs = registry === undefined ? null : new PublishedSpecs(client, registry, clock);
  }

  /** Finds the request spec of a key, whoever published it; null if none is known. */
  async specOf(key: Hex): Promise<PublishedSpec | null> {
    return (await this.#specs?.of(key)) ?? null;
  }

  /** Describes one data point, wherever it is shown. */
  async describe(dataset: Dataset, key: Hex, stored: QueryResult): Promise<ServedPoint> {
    const policy = dataset.keys.policyOf(key);
    const isSpot = dataset.keyForm === "SPOT_PRICE";
    return {
      key: keyToAscii(key),
      key_hex: key,
      status: stored.status,
      value: formatValue(dataset.kind, stored.output),
      timestamp: Number(stored.updatedAt),
      deviation_bps: policy?.deviationBps ?? null,
      heartbeat_seconds: policy?.heartbeatSeconds ?? null,
      format: isSpot ? SPOT_PRICE_FORMAT : ((await this.specOf(key))?.format ?? null),
    };
  }

  /** Reads everything. What cannot be read now is null. */
  async read(): Promise<NetworkOverview> {
    const { settings } = this.plan;
    const { contracts } = this.network;
    const [head, datasets] = await Promise.all([
      readHead(this.network.client).catch(nullFor(RpcError)),
      Promise.all([...this.network.datasets.values()].map(({ dataset }) => this.#dataset(dataset))),
    ]);
    return {
      network_id: this.network.chainId,
      readable: datasets.every(({ points }) => points !== null),
      simulated: settings.simulated,
      head_timestamp: head?.timestamp ?? null,
      broadcasts: this.network.senders.canSend,
      explorer_url: settings.explorerUrl?.replace(/\/+$/, "") ?? null,
      verified_lens: contracts.verifiedLens ?? null,
      web_oracle_registry: contracts.webOracleRegistry ?? null,
      datasets,
    };
  }

  async #dataset(dataset: Dataset): Promise<DatasetOverview> {
    const { urls, failures } = this.network.providers;
    const { members, toleranceBps } = dataset.committee.current;
    const nameOf = new Map(this.plan.settings.providers.map(({ address, name }) => [getAddress(address), name]));
    const stored = await this.#stored(dataset).catch(nullFor(RpcError));
    return {
      dataset: dataset.address,
      name: dataset.name,
      kind: dataset.kind,
      key_form: dataset.keyForm,
      max_round_age: Number(dataset.maxRoundAge),
      tolerance_bps: Number(toleranceBps),
      providers: members.map((address) => ({
        address,
        name: nameOf.get(address) ?? null,
        url: urls.urlOf(address) ?? null,
        failing: failures.reasonOf(address),
      })),
      ...(stored ?? { query_price: null, points: null, left_out: 0, specs: [] }),
    };
  }

  async #stored(dataset: Dataset): Promise<Pick<DatasetOverview, "query_price" | "points" | "left_out" | "specs">> {
    // What others add to the dataset or publish is not shown unasked: anyone could write something there.
    const known = [...dataset.keys];
    const keys = known.slice(0, MAX_POINTS);
    const [price, stored, specs] = await Promise.all([
      readView(dataset, "queryPrice"),
      readManyStored(dataset, keys, "latest"),
      Promise.all(keys.map((key) => this.specOf(key))),
    ]);
    const points = await Promise.all([...stored].map(([key, point]) => this.describe(dataset, key, point)));
    const byHash = new Map(specs.flatMap((spec) => (spec === null ? [] : [[spec.spec_hash, spec]])));
    return {
      query_price: price.toString(),
      points,
      left_out: known.length - keys.length,
      specs: [...byHash.values()],
    };
  }
}
