import type { World } from "./world.js";

/** What must hold: looked at after every block, and at the end. */
export interface Check {
  atBlock?(): void;
  /** When the faults have ended long ago, nobody has asked for anything for a while, and the operators still run. */
  atEnd?(): void;
}

/** Makes the check of one invariant. It reports by `world.violate`. */
export type Invariant = (world: World) => Check;
