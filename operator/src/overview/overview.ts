import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type {
  DatasetOverview,
  NetworkOverview,
  OverviewAnswer,
  PublishedSpec,
  ServedPoint,
  ValueFormat,
} from "@dataset-oracle/protocol/http-schemas/overview";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { type Address, getAddress, type Hex } from "viem";
import { readHead } from "../chain/read-blocks.js";
import { readView } from "../chain/read-view.js";
import { readManyStored } from "../chain/stored-values.js";
import type { NetworkSettings } from "../config.js";
import { type DataPoint, dataPointOf } from "../data-point.js";
import { beatAt, orderOf } from "../feeds/turn-schedule.js";
import type { Dataset, Network } from "../network.js";
import type { Operator } from "../operator.js";
import { nodesIn } from "../peers/node-list.js";
import { SingleFlight } from "../single-flight.js";
import { type RecentEntries, recentKeys, recentSpecs } from "./added-keys-and-published-specs.js";
import { type DescribedSpec, describeSpec } from "./describe-spec.js";
import { ValueFormatCache } from "./value-format-cache.js";

/** A rate, scaled as `usingOracleProtocol` returns it. */
const SPOT_PRICE_FORMAT: ValueFormat = { title: null, type: "uint", decimals: 18, unit: null, sources: [] };

/** How long an answer is reused before a network is read again. */
const REMEMBER_MS = 1_000;
/** The maximum number of data points that are shown of one dataset. */
const MAX_POINTS = 500;

/** Shows what this operator serves, with the values that are stored now. */
export class Overview {
  readonly #networks: SingleFlight<NetworkOverview>;
  readonly #keys = new Map<Dataset, RecentEntries<true>>();
  readonly #specs = new Map<Network, RecentEntries<DescribedSpec>>();
  readonly #formats = new Map<Network, ValueFormatCache>();

  constructor(private readonly operator: Operator) {
    this.#networks = new SingleFlight(operator.clock, REMEMBER_MS);
    for (const network of operator.networks.values()) {
      const { client, registry, settings } = network;
      if (registry !== null) {
        this.#formats.set(network, new ValueFormatCache(client, registry, operator.clock));
        this.#specs.set(network, recentSpecs(client, registry, settings.historyBlocks, describeSpec));
      }
      for (const dataset of network.datasets.values()) {
        if (dataset.keyForm === "WEB_ORACLE")
          this.#keys.set(dataset, recentKeys(client, dataset.address, settings.historyBlocks));
      }
    }
  }

  /** Reads all networks. One that cannot be read is shown without values. */
  async read(): Promise<OverviewAnswer> {
    const networks = [...this.operator.networks.values()];
    const read = (network: Network) => this.#networks.run(String(network.chainId), () => this.#network(network)).result;
    return { time: Math.floor(this.operator.clock() / 1000), networks: await Promise.all(networks.map(read)) };
  }

  /** Describes one data point, wherever it is shown. */
  async describe({ network, dataset, key }: DataPoint, stored: QueryResult): Promise<ServedPoint> {
    const feed = dataset.feeds.find((one) => one.key === key);
    const isSpot = dataset.keyForm === "SPOT_PRICE";
    return {
      key: keyToAscii(key),
      key_hex: key,
      status: stored.status,
      value: formatValue(dataset.kind, stored.output),
      timestamp: Number(stored.updatedAt),
      deviation_bps: feed?.policy.deviationBps ?? null,
      heartbeat_seconds: feed?.policy.heartbeatSeconds ?? null,
      format: isSpot ? SPOT_PRICE_FORMAT : ((await this.#formats.get(network)?.of(key)) ?? null),
    };
  }

  async #network(network: Network): Promise<NetworkOverview> {
    const [head, datasets] = await Promise.all([
      nullIfUnreadable(readHead(network.client)),
      Promise.all([...network.datasets.values()].map((dataset) => this.#dataset(network, dataset))),
    ]);
    return {
      network_id: network.chainId,
      readable: datasets.every(({ points }) => points !== null),
      simulated: network.settings.simulated,
      head_timestamp: head?.timestamp ?? null,
      broadcasts: network.queues.length > 0,
      explorer_url: network.settings.explorerUrl?.replace(/\/+$/, "") ?? null,
      verified_lens: network.verifiedLens,
      web_oracle_registry: network.registry,
      nodes: this.#nodes(network),
      datasets,
    };
  }

  #nodes({ nodes, settings }: Network): NetworkOverview["nodes"] {
    const names = namesOf(settings);
    return nodes.all.map((node) => ({
      ...node,
      name: names.get(node.provider) ?? null,
      own: node === nodes.own,
    }));
  }

  async #dataset(network: Network, dataset: Dataset): Promise<DatasetOverview> {
    const { members, toleranceBps } = dataset.committee.current;
    const names = namesOf(network.settings);
    return {
      dataset: dataset.address,
      name: dataset.name,
      kind: dataset.kind,
      key_form: dataset.keyForm,
      max_round_age: Number(dataset.maxRoundAge),
      tolerance_bps: Number(toleranceBps),
      providers: members.map((address) => ({
        address,
        name: names.get(address) ?? null,
        url: network.providerUrls.urlOf(address) ?? null,
        failing: network.providerFailures.reasonOf(address),
      })),
      turn: [...this.#turn(network, dataset)],
      ...(await this.#stored(network, dataset)),
    };
  }

  #turn({ nodes, settings }: Network, dataset: Dataset): readonly Address[] {
    if (dataset.feeds.length === 0) return [];
    const round = beatAt(this.operator.clock(), settings.beatSeconds);
    return orderOf({ dataset: dataset.address, chunk: 0, round }, nodesIn(dataset.committee.current.members, nodes));
  }

  async #stored(
    network: Network,
    dataset: Dataset,
  ): Promise<Pick<DatasetOverview, "query_price" | "points" | "left_out" | "specs">> {
    const stored = await nullIfUnreadable(this.#read(network, dataset));
    return stored ?? { query_price: null, points: null, left_out: 0, specs: [] };
  }

  async #read(network: Network, dataset: Dataset) {
    const [price, known, specs] = await Promise.all([
      readView(network.client, dataset.address, "queryPrice"),
      this.#keysOf(dataset),
      this.#specsOf(network, dataset),
    ]);
    const keys = known.slice(0, MAX_POINTS);
    const stored = await readManyStored(network.client, dataset.address, keys, "latest");
    const points = await Promise.all(
      stored.map((point, index) => this.describe(dataPointOf(network, dataset, keys[index] as Hex), point)),
    );
    return { query_price: price.toString(), points, left_out: known.length - keys.length, specs: [...specs] };
  }

  /** Returns the configured keys first, then those that were added to the dataset, the newest first. */
  async #keysOf(dataset: Dataset): Promise<readonly Hex[]> {
    const fed = dataset.feeds.map(({ key }) => key);
    const added = (await this.#keys.get(dataset)?.read()) ?? [];
    return [...new Set([...dataset.keys, ...fed, ...added.map(([key]) => key)])];
  }

  /** Returns the published specs whose keys belong to the dataset, the newest first. */
  async #specsOf(network: Network, dataset: Dataset): Promise<readonly PublishedSpec[]> {
    if (dataset.keyForm !== "WEB_ORACLE") return [];
    const published = (await this.#specs.get(network)?.read()) ?? [];
    return published.flatMap(([spec_hash, { kind, variables, format }]) =>
      kind === dataset.kind ? [{ spec_hash, variables: [...variables], format }] : [],
    );
  }
}

/** Returns the names that the configuration gives to providers. */
function namesOf({ providers }: NetworkSettings): ReadonlyMap<Address, string> {
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
