import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { type KeyForm, matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedDataset, Deployment } from "@dataset-oracle/service/config/deployment";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import type { Address, Hex } from "viem";
import type { RecordingReader } from "../source/recording-reader.js";
import type { SpotSource } from "../source/spot-source.js";
import type { ValueWithSources } from "../value/combined-value.js";
import { type ReadContext, readSpotPrice, type SpotPriceKey, sourcesOfPair } from "../value/spot-price.js";
import type { WebValueExtractor } from "../web-oracle/extract-values.js";
import { readWebOracleValue } from "../web-oracle/read-web-oracle-value.js";
import type { WebOracleKey } from "../web-oracle/web-oracle-key-finder.js";

/** A key whose value the provider can read. */
export type ServedKey = SpotPriceKey | WebOracleKey;

export interface ReportedDataset {
  readonly kind: DatasetKind;
  readonly chainId: number;
  readonly address: Address;
  readonly keyForm: KeyForm;
  readonly digests: FastReportDigests;
  /** The spot prices that are served. Web Oracle keys are found when they are asked for. */
  readonly keys: ReadonlyMap<Hex, SpotPriceKey>;
  /** The names of the listed keys that too few sources know. A dataset of the kind majority has no sources of prices. */
  readonly unservedKeys: readonly string[];
}

/** Everything that a provider serves, by chain id and dataset address. */
export type Served = ReadonlyMap<number, ReadonlyMap<Address, ReportedDataset>>;

/** A key of a dataset on a network. */
export interface ServedDataPoint {
  /** Unique among all data points. */
  readonly id: string;
  readonly dataset: ReportedDataset;
  readonly key: ServedKey;
}

/** Finds, for each deployed dataset, the keys that at least `minSources` sources know. */
export function findServedDatasets(
  deployments: readonly Deployment[],
  sources: readonly SpotSource[],
  minSources: number,
): Served {
  const served = new Map<number, ReadonlyMap<Address, ReportedDataset>>();
  for (const { chainId, datasets } of deployments) {
    if (served.has(chainId)) throw new ConfigError(`deployments: two files describe network ${chainId}. Remove one.`);
    const entries = datasets.map((dataset) => serveDataset(chainId, dataset, sources, minSources));
    served.set(chainId, new Map(entries.map((entry) => [entry.address, entry])));
  }
  return served;
}

/**
 * Checks that there is something to serve.
 *
 * @param hasWebOracle True when the Web Oracle's datasets are served, whose keys are not listed.
 * @throws ConfigError
 */
export function requireKeys(served: Served, minSources: number, hasWebOracle: boolean): void {
  if (datasetsOf(served).some((dataset) => isServed(dataset, hasWebOracle))) return;
  throw new ConfigError(
    `No key of the deployments has ${minSources} sources. Add sources, lower minSources, or set webOracle to serve ` +
      "keys of the Web Oracle.",
  );
}

/**
 * Tells whether any key of a dataset is served.
 *
 * @param hasWebOracle True when the Web Oracle's datasets are served.
 */
export const isServed = ({ keys, keyForm }: ReportedDataset, hasWebOracle: boolean): boolean =>
  keys.size > 0 || (hasWebOracle && keyForm === "WEB_ORACLE");

export const datasetsOf = (served: Served): ReportedDataset[] =>
  [...served.values()].flatMap((datasets) => [...datasets.values()]);

function serveDataset(
  chainId: number,
  dataset: DeployedDataset,
  sources: readonly SpotSource[],
  minSources: number,
): ReportedDataset {
  const { address, kind, keyForm } = dataset;
  const keys = new Map<Hex, SpotPriceKey>();
  const unservedKeys: string[] = [];
  for (const key of keyForm === "WEB_ORACLE" ? [] : dataset.keys) {
    const name = keyToAscii(key) ?? key;
    const isSpotPrice = kind === "median" && matchesKeyForm("SPOT_PRICE", key);
    const pair = name.slice("SPOTPX/".length);
    const found = isSpotPrice ? sourcesOfPair(pair, sources, minSources) : [];
    if (found.length < minSources) unservedKeys.push(name);
    else keys.set(key, { kind: "spot_price", key, name, sources: found });
  }
  const digests = new FastReportDigests(chainId, address, keccak);
  return { chainId, address, kind, keyForm, digests, keys, unservedKeys };
}

/** Reads a key's value from its sources now. */
export const readValue = (key: ServedKey, context: ReadContext, extractor: WebValueExtractor) =>
  key.kind === "spot_price" ? readSpotPrice(key.sources, context) : readWebOracleValue(key, context, extractor);

/** A data point's value as it was just read. */
export interface FreshValue {
  readonly dataPoint: ServedDataPoint;
  readonly value: ValueWithSources;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
  /** The answers that the value was computed from. */
  readonly answers: RecordingReader["answers"];
}

/** Returns the fields of every log line about a data point at a round. */
export const dataPointLogFields = ({ dataset, key }: ServedDataPoint, round: bigint, trace: Trace | null) => ({
  ...traceFieldsOf(trace),
  network: dataset.chainId,
  key: key.name,
  round: Number(round),
});
