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
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { type Address, getAddress, type Hex } from "viem";
import type { Context } from "../../context.js";
import { readView } from "../../dataset/contract.js";
import type { Dataset } from "../../dataset/dataset.js";
import { readManyStored } from "../../dataset/stored-values.js";
import type { Providers } from "../../reports/providers.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { readHead } from "../../rpc/blocks.js";
import type { ServedNetwork } from "../../served-network.js";
import { SingleFlight } from "../../single-flight.js";
import { type DescribedSpec, describeSpec } from "./describe-spec.js";
import { type RecentEntries, recentKeys, recentSpecs } from "./recent-entries.js";
import type { PagePlan } from "./settings.js";
import { ValueFormatCache } from "./value-formats.js";

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

/** Adds `GET /overview`. Its rate limit is its own, so that looking does not use up the data requests of a caller. */
export function addOverview(app: App, overview: Overview, requestsPerMinute: number): void {
  const config = { rate: { name: "overview", perMinute: requestsPerMinute } };
  app.get("/overview", { schema, config }, () => overview.read());
}

/** A rate, scaled as `usingOracleProtocol` returns it. */
const SPOT_PRICE_FORMAT: ValueFormat = { title: null, type: "uint", decimals: 18, unit: null, sources: [] };

/** How long an answer is reused before a network is read again. */
const REMEMBER_MS = 1_000;
/** The maximum number of data points that are shown of one dataset. */
const MAX_POINTS = 500;

/** A network as it is shown. */
interface ShownNetwork {
  readonly network: ServedNetwork;
  readonly plan: PagePlan;
  /** Null where the deployment names no registry of request specs. */
  readonly specs: RecentEntries<DescribedSpec> | null;
  readonly formats: ValueFormatCache | null;
  /** The keys that were added to the datasets of the Web Oracle. */
  readonly keys: ReadonlyMap<Dataset, RecentEntries<true>>;
}

/** Shows what this operator serves, with the values that are stored now. */
export class Overview {
  readonly #shown: ReadonlyMap<number, ShownNetwork>;
  readonly #networks: SingleFlight<NetworkOverview>;

  constructor(
    networks: ReadonlyMap<number, ServedNetwork>,
    plans: readonly PagePlan[],
    private readonly context: Pick<Context, "clock">,
  ) {
    this.#networks = new SingleFlight(context.clock, REMEMBER_MS);
    const shown = plans.flatMap((plan) => {
      const network = networks.get(plan.deployment.chainId);
      return network === undefined ? [] : [showNetwork(network, plan, context)];
    });
    this.#shown = new Map(shown.map((one) => [one.network.chainId, one]));
  }

  /** Reads all networks. One that cannot be read is shown without values. */
  async read(): Promise<OverviewAnswer> {
    const read = (shown: ShownNetwork) =>
      this.#networks.run(String(shown.network.chainId), () => this.#network(shown)).result;
    const networks = await Promise.all([...this.#shown.values()].map(read));
    return { time: Math.floor(this.context.clock() / 1000), networks };
  }

  /** Describes one data point, wherever it is shown. */
  async describe(dataset: Dataset, key: Hex, stored: QueryResult): Promise<ServedPoint> {
    const policy = dataset.keys.policyOf(key);
    const formats = this.#shown.get(dataset.chainId)?.formats;
    const isSpot = dataset.keyForm === "SPOT_PRICE";
    return {
      key: keyToAscii(key),
      key_hex: key,
      status: stored.status,
      value: formatValue(dataset.kind, stored.output),
      timestamp: Number(stored.updatedAt),
      deviation_bps: policy?.deviationBps ?? null,
      heartbeat_seconds: policy?.heartbeatSeconds ?? null,
      format: isSpot ? SPOT_PRICE_FORMAT : ((await formats?.of(key)) ?? null),
    };
  }

  async #network(shown: ShownNetwork): Promise<NetworkOverview> {
    const { network, plan } = shown;
    const [head, datasets] = await Promise.all([
      nullIfUnreadable(readHead(network.client)),
      Promise.all([...network.datasets.values()].map(({ dataset }) => this.#dataset(shown, dataset))),
    ]);
    const { settings, deployment } = plan;
    return {
      network_id: network.chainId,
      readable: datasets.every(({ points }) => points !== null),
      simulated: settings.simulated,
      head_timestamp: head?.timestamp ?? null,
      broadcasts: network.senders.canSend,
      explorer_url: settings.explorerUrl?.replace(/\/+$/, "") ?? null,
      verified_lens: deployment.verifiedLens ?? null,
      web_oracle_registry: deployment.webOracleRegistry ?? null,
      datasets,
    };
  }

  async #dataset(shown: ShownNetwork, dataset: Dataset): Promise<DatasetOverview> {
    const stored = await nullIfUnreadable(this.#stored(shown, dataset));
    return {
      dataset: dataset.address,
      name: dataset.name,
      kind: dataset.kind,
      key_form: dataset.keyForm,
      max_round_age: Number(dataset.maxRoundAge),
      tolerance_bps: Number(dataset.committee.current.toleranceBps),
      providers: describeMembers(dataset, shown.network.providers, namesOf(shown.plan)),
      ...(stored ?? { query_price: null, points: null, left_out: 0, specs: [] }),
    };
  }

  async #stored(
    shown: ShownNetwork,
    dataset: Dataset,
  ): Promise<Pick<DatasetOverview, "query_price" | "points" | "left_out" | "specs">> {
    const [price, known, specs] = await Promise.all([
      readView(dataset, "queryPrice"),
      keysOf(shown, dataset),
      specsOf(shown, dataset),
    ]);
    const keys = known.slice(0, MAX_POINTS);
    const stored = await readManyStored(dataset, keys, "latest");
    const points = await Promise.all([...stored].map(([key, point]) => this.describe(dataset, key, point)));
    return { query_price: price.toString(), points, left_out: known.length - keys.length, specs: [...specs] };
  }
}

function showNetwork(network: ServedNetwork, plan: PagePlan, { clock }: Pick<Context, "clock">): ShownNetwork {
  const { client } = network;
  const { historyBlocks } = plan.settings;
  const registry = plan.deployment.webOracleRegistry;
  const ofWebOracle = [...network.datasets.values()].filter(({ dataset }) => dataset.keyForm === "WEB_ORACLE");
  return {
    network,
    plan,
    specs: registry === undefined ? null : recentSpecs(client, registry, historyBlocks, describeSpec),
    formats: registry === undefined ? null : new ValueFormatCache(client, registry, clock),
    keys: new Map(ofWebOracle.map(({ dataset }) => [dataset, recentKeys(client, dataset.address, historyBlocks)])),
  };
}

/** Returns the configured keys first, then those that were added to the dataset, the newest first. */
async function keysOf({ keys }: ShownNetwork, dataset: Dataset): Promise<readonly Hex[]> {
  const added = (await keys.get(dataset)?.read()) ?? [];
  return [...new Set([...dataset.keys, ...added.map(([key]) => key)])];
}

/** Returns the published specs whose keys belong to the dataset, the newest first. */
async function specsOf({ specs }: ShownNetwork, dataset: Dataset): Promise<readonly PublishedSpec[]> {
  if (dataset.keyForm !== "WEB_ORACLE") return [];
  const published = (await specs?.read()) ?? [];
  return published.flatMap(([spec_hash, { kind, variables, format }]) =>
    kind === dataset.kind ? [{ spec_hash, variables: [...variables], format }] : [],
  );
}

function describeMembers(
  { committee }: Dataset,
  { urls, failures }: Providers,
  names: ReadonlyMap<Address, string>,
): DatasetOverview["providers"] {
  return committee.current.members.map((address) => ({
    address,
    name: names.get(address) ?? null,
    url: urls.urlOf(address) ?? null,
    failing: failures.reasonOf(address),
  }));
}

/** Returns the names that the configuration gives to providers. */
function namesOf({ settings: { providers } }: PagePlan): ReadonlyMap<Address, string> {
  return new Map(providers.flatMap(({ address, name }) => (name === undefined ? [] : [[getAddress(address), name]])));
}

/** Returns null where the chain cannot be read now. */
async function nullIfUnreadable<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}
