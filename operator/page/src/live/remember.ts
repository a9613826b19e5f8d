import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/wire-data";

/** What was known of each dataset when it could be read last. */
export type Remembered = ReadonlyMap<string, Pick<DatasetOverview, "points" | "query_price" | "left_out">>;

const idOf = (network: NetworkOverview, { dataset }: DatasetOverview) => `${network.network_id} ${dataset}`;

/** Fills in what is not readable now with what was known before: its age says how old it is. */
export function fillIn(networks: readonly NetworkOverview[], known: Remembered): readonly NetworkOverview[] {
  return networks.map((network) => ({
    ...network,
    datasets: network.datasets.map((dataset) => {
      return dataset.points === null ? { ...dataset, ...known.get(idOf(network, dataset)) } : dataset;
    }),
  }));
}

/** What is known now. */
export function remember(networks: readonly NetworkOverview[]): Remembered {
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
