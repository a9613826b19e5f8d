import type { NetworkSettings } from "../../dist/config.js";
import type { Random } from "./random.js";

/** What a fault does not share with another at the same time. */
export type FaultGroup = "providers" | "rpc" | "chain" | "operators" | "requests";

/** A fault that has begun. */
export interface Episode {
  /** How long it lasts, in milliseconds. */
  readonly forMs: number;
  /** For those that end by themselves some time later: true once they have. */
  readonly hasEnded?: () => boolean;
  readonly end?: () => void;
}

/** A class of faults. */
export interface Fault<World> {
  readonly name: string;
  readonly group: FaultGroup;
  /**
   * Whether a feed may be late, or an update not stored, while it lasts, and for how long afterwards: until the schedule
   * has been through all its stages, and for so many transactions that first have to be stuck and replaced. Null if it
   * explains neither, because other operators, endpoints or members have to make up for it.
   */
  readonly replacements: number | null;
  /** True if it lasts as long as the simulation. */
  readonly isPermanent?: boolean;
  /** What the operators' configurations then have. */
  readonly settings?: Partial<NetworkSettings>;
  begin(world: World, random: Random): Episode;
}
