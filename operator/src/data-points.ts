import type { DataRequest } from "@dataset-oracle/protocol/wire";
import { type DataPoint, findDataPoint } from "./data-point.js";
import type { Network } from "./network.js";

/** What requests name, of which many ask for the same: found once, and remembered. */
export class DataPoints {
  readonly #known = new Map<string, DataPoint>();

  /** @param maxSize How many are remembered: foreign choose the keys. */
  constructor(
    private readonly networks: ReadonlyMap<number, Network>,
    private readonly maxSize: number,
  ) {}

  /** @throws ProblemError: 400, 404 or 422. */
  find(body: DataRequest): DataPoint {
    const { network_id, dataset, key, broadcast } = body;
    const asked = `${network_id} ${dataset} ${broadcast} ${key}`;
    const known = this.#known.get(asked);
    if (known !== undefined) return known;
    const dataPoint = findDataPoint(this.networks, body);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.maxSize && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(asked, dataPoint);
    return dataPoint;
  }
}
