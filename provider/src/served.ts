import { type KeyForm, keyToAscii, matchesKeyForm } from "@dataset-oracle/protocol/key";
import { ReportDigests } from "@dataset-oracle/protocol/report-digests";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import { ConfigError } from "@dataset-oracle/service/config";
import type { DeployedDataset, Deployment } from "@dataset-oracle/service/deployment";
import { keccak } from "@dataset-oracle/service/keccak";
import type { Address, Hex } from "viem";
import type { SpotSource } from "./source/spot-source.js";
import { type SourceOverrides, withOverride } from "./source-overrides.js";
import type { PairSource } from "./spot-price.js";

/** A key that the provider reports on, and where its value is read. */
export interface ServedKey {
  readonly key: Hex;
  /** The key for logs: in ASCII, if it is printable. */
  readonly name: string;
  readonly sources: readonly PairSource[];
}

export interface ServedDataset {
  readonly kind: DatasetKind;
  readonly chainId: number;
  readonly address: Address;
  readonly keyForm: KeyForm;
  readonly digests: ReportDigests;
  readonly keys: ReadonlyMap<Hex, ServedKey>;
  /** Keys of the deployment, of spot prices, for which there are too few sources. */
  readonly unservedKeys: readonly string[];
}

/** Everything that a provider serves: the datasets of each network. */
export type Served = ReadonlyMap<number, ReadonlyMap<Address, ServedDataset>>;

/** What is served: of each deployed dataset the keys that at least `minSources` sources can answer. */
export function decideServed(
  deployments: readonly Deployment[],
  sources: readonly SpotSource[],
  minSources: number,
  overrides: SourceOverrides,
): Served {
  const served = new Map<number, ReadonlyMap<Address, ServedDataset>>();
  for (const { chainId, datasets } of deployments) {
    if (served.has(chainId)) throw new ConfigError(`deployments: two files are of the network ${chainId}. Keep one.`);
    const entries = datasets.map((dataset) => serveDataset(chainId, dataset, sources, minSources, overrides));
    served.set(chainId, new Map(entries.map((entry) => [entry.address, entry])));
  }
  return served;
}

/**
 * @param hasWebOracle Whether the Web Oracle's datasets are served, whose keys anyone makes.
 * @throws ConfigError when nothing is served.
 */
export function requireKeys(served: Served, minSources: number, hasWebOracle: boolean): void {
  for (const datasets of served.values()) {
    for (const { keys, keyForm } of datasets.values()) {
      if (keys.size > 0 || (hasWebOracle && keyForm === "WEB_ORACLE")) return;
    }
  }
  throw new ConfigError(`No key of the deployments has ${minSources} sources. Add sources, or lower minSources.`);
}

function serveDataset(
  chainId: number,
  dataset: DeployedDataset,
  sources: readonly SpotSource[],
  minSources: number,
  overrides: SourceOverrides,
): ServedDataset {
  const keys = new Map<Hex, ServedKey>();
  const unservedKeys: string[] = [];
  for (const key of dataset.keys) {
    const name = keyToAscii(key) ?? key;
    if (dataset.keyForm === "WEB_ORACLE") continue;
    const found = spotSources(dataset, key, sources, minSources, overrides);
    if (found.length < minSources) unservedKeys.push(name);
    else keys.set(key, { key, name, sources: found });
  }
  const { address, kind, keyForm } = dataset;
  const digests = new ReportDigests(chainId, address, keccak);
  return { chainId, address, kind, keyForm, digests, keys, unservedKeys };
}

/** Who knows the price that a key asks for. A key of another form than a spot price's is nobody's here. */
function spotSources(
  dataset: DeployedDataset,
  key: Hex,
  sources: readonly SpotSource[],
  minSources: number,
  overrides: SourceOverrides,
): PairSource[] {
  if (dataset.kind !== "median" || !matchesKeyForm("SPOT_PRICE", key)) return [];
  return pairSources((keyToAscii(key) ?? "").slice("SPOTPX/".length), sources, minSources, overrides);
}

/** Who knows the price of a pair: those that have it as it is, and those whose price can be converted. */
export function pairSources(
  pair: string,
  sources: readonly SpotSource[],
  minSources: number,
  overrides: SourceOverrides,
): PairSource[] {
  return sources
    .filter(({ pairs }) => pairs.has(pair))
    .flatMap(({ name, spec, question }) => {
      const { request, read, rate } = question(pair);
      const source = { name, spec, request: withOverride(overrides, request), read };
      if (rate === null) return { ...source, rate };
      // A rate is not made of rates.
      const direct = sources.filter((other) => other.pairs.has(rate) && other.question(rate).rate === null);
      if (direct.length < minSources) return [];
      return { ...source, rate: { pair: rate, sources: pairSources(rate, direct, minSources, overrides) } };
    });
}
