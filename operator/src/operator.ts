import type { Committee } from "@dataset-oracle/protocol/committee";
import type { DataAnswer } from "@dataset-oracle/protocol/wire";
import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Clock } from "./clock.js";
import type { Metrics } from "./metrics.js";
import type { Network } from "./network.js";
import { RememberedKeys } from "./remembered-points.js";
import { SingleFlight } from "./single-flight.js";
import type { Stored } from "./update/answer.js";
import type { ProviderAnswer } from "./update/ask.js";
import type { RowAnswer } from "./update/ask-row.js";
import type { Askable } from "./update/gather.js";

/** An update that the chain would take now. */
export interface ReadyUpdate extends Stored {
  readonly kind: "ready";
  readonly data: Hex;
  /** In units of gas. */
  readonly gasLimit: bigint;
}

/** This round or a newer one is stored or on its way: `stored`, in seconds since 1970. */
export interface StaleUpdate {
  readonly kind: "stale";
  readonly stored: bigint;
}

export type Update = ReadyUpdate | StaleUpdate;

/** A transaction for the caller to send. */
export type Unsent = { readonly kind: "ready"; readonly answer: DataAnswer } | StaleUpdate;

/** A round that was relayed to the chain, by this operator or by another carrier before it. */
export interface Relayed {
  readonly answer: DataAnswer;
  /**
   * What was mined, this round or a newer one of its key; null when nothing is mined in time, or another carrier sent it.
   */
  readonly mined: (waitMs: number) => Promise<{ readonly answer: DataAnswer; readonly isReverted: boolean } | null>;
}

/** Everything that requests share. */
export interface Operator {
  readonly networks: ReadonlyMap<number, Network>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the operator shuts down. */
  readonly closing: AbortSignal;
  readonly metrics: Metrics;
  readonly gatherings: SingleFlight<readonly ProviderAnswer[]>;
  readonly rows: SingleFlight<readonly RowAnswer[]>;
  readonly unsent: SingleFlight<Unsent>;
  readonly broadcasts: SingleFlight<Relayed>;
  /** Stored values that need no update; null where one does. */
  readonly fresh: SingleFlight<DataAnswer | null>;
  /**
   * Those that the data providers were found not to serve. For a while nobody is asked for them again, so that a key that
   * is of the form and that nobody serves does not use up what the providers allow the operator.
   */
  readonly unknownKeys: RememberedKeys;
  /** Those that the chain has stored: their gas is not that of new keys. */
  readonly storedKeys: RememberedKeys;
}

/** Requests name a new round each second: what is older than this, nobody asks for again. */
const REMEMBER_MS = 10_000;
/** A key that a provider begins to serve can be asked for after this. */
const REMEMBER_UNKNOWN_KEY_MS = 60_000;
/** A key has at most 256 bytes, so these take a few megabytes. */
const MAX_REMEMBERED = 10_000;

export function createOperator(
  networks: readonly Network[],
  clock: Clock,
  logger: Logger,
  closing: AbortSignal,
  metrics: Metrics,
): Operator {
  const shared = <T>(work: string) => new SingleFlight<T>(clock, REMEMBER_MS, () => metrics.coalesced(work));
  return {
    networks: new Map(networks.map((network) => [network.chainId, network])),
    clock,
    logger,
    closing,
    metrics,
    gatherings: shared("reports"),
    rows: shared("rows"),
    unsent: shared("unsent"),
    broadcasts: shared("broadcast"),
    fresh: shared("fresh"),
    unknownKeys: new RememberedKeys(clock, REMEMBER_UNKNOWN_KEY_MS, MAX_REMEMBERED),
    storedKeys: new RememberedKeys(clock, Number.POSITIVE_INFINITY, MAX_REMEMBERED),
  };
}

/** How a committee is asked on a network. */
export function askableOf({ closing, metrics }: Operator, network: Network, committee: Committee): Askable {
  const { chainId, endpoints, limits } = network;
  const observe: Askable["observe"] = (...answered) => metrics.providerAsked(chainId, ...answered);
  return { committee, endpoints, limits, signal: closing, observe };
}
