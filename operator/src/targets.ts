import type { DataRequest } from "@dataset-oracle/protocol/wire";
import type { Network } from "./network.js";
import { findTarget, type Target } from "./target.js";

/** What requests name, of which many ask for the same: found once, and remembered. */
export class Targets {
  readonly #known = new Map<string, Target>();

  /** @param maxSize How many are remembered: strangers choose the keys. */
  constructor(
    private readonly networks: ReadonlyMap<number, Network>,
    private readonly maxSize: number,
  ) {}

  /** @throws ProblemError: 400, 404 or 422. */
  find(body: DataRequest): Target {
    const { network_id, dataset, key, broadcast } = body;
    const asked = `${network_id} ${dataset} ${broadcast} ${key}`;
    const known = this.#known.get(asked);
    if (known !== undefined) return known;
    const target = findTarget(this.networks, body);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.maxSize && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(asked, target);
    return target;
  }
}
