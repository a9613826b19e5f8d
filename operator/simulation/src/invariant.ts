import { type Hex, keccak256, stringToHex } from "viem";
import type { World } from "./world.js";

/** What must hold: looked at after every block, and at the end. */
export interface Check {
  atBlock?(): void;
  /** When the faults have ended long ago, nobody has asked for anything for a while, and the operators still run. */
  atEnd?(): void;
}

/** Makes the check of one invariant. It reports by `world.violate`. */
export type Invariant = (world: World) => Check;

const hashes = new Map<string, Hex>();

/** The hash of a key of the world, of which there are few. */
export function hashOf(key: string): Hex {
  const hash = hashes.get(key) ?? keccak256(stringToHex(key));
  hashes.set(key, hash);
  return hash;
}
