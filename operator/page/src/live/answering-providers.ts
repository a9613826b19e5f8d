import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { faultBound } from "@dataset-oracle/protocol/quorum";

/** Counts the providers that must sign, and those that answer this operator, as far as it knows. */
export function countAnsweringProviders({ providers }: DatasetOverview): {
  readonly needed: number;
  readonly answering: number;
} {
  const needed = providers.length - faultBound(providers.length);
  const answering = providers.filter(({ url, failing }) => url !== null && failing === null).length;
  return { needed, answering };
}
