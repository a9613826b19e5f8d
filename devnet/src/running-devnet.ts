import type { Deployed } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";
import type { Service } from "./network-services.js";
import type { PublishedExample } from "./publish-example-specs.js";

/** A devnet with everything that it has started. */
export interface RunningDevnet extends DevnetContext {
  readonly deployed: Deployed;
  readonly providers: readonly Service[];
  /** At least one. */
  readonly operators: readonly Service[];
  readonly examples: readonly PublishedExample[];
}
