import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/wire-data";

/** The last known state of each dataset. */
export type LastKnown = ReadonlyMap<string, Pick<DatasetOverview, "points" | "query_price" | "left_out">>;

const idOf = (network: NetworkOverview, { dataset }: DatasetOverview) => `${network.network_id} ${dataset}`;

/** Fills in datasets that cannot be read now from their last known state. Their ages show how old it is. */
export function fillIn(networks: readonly NetworkOverview[], known: LastKnown): readonly NetworkOverview[] {
  return networks.map((network) => ({
    ...network,
    datasets: network.datasets.map((dataset) => {
      return dataset.points === null ? { ...dataset, ...known.get(idOf(network, dataset)) } : dataset;
    }),
  }));
}

/** Returns the state to remember. */
export function remember(networks: readonly NetworkOverview[]): LastKnown {
  return new Map(
    networks.flatMap((network) =>
      network.datasets.map(({ points, query_price, left_out, ...dataset }) => {
        return [
          idOf(network, { ...dataset, points, query_price, left_out }),
          { points, query_price, left_out },
        ] as const;
      }),
    ),
  );
}
