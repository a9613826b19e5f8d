import type { DataPointAnswer, DatasetOverview, LastUpdate } from "@dataset-oracle/protocol/wire-data";

interface Props {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
  readonly reports: NonNullable<LastUpdate["reports"]>;
}

const WIDTH = 1000;

/**
 * The signed values on a line, around the stored one, as wide as the tolerance on either side. The table below it has the
 * same in figures.
 */
export function Spread({ data, dataset, reports }: Props) {
  const stored = BigInt(data.value);
  const reach = (stored * BigInt(dataset.tolerance_bps)) / 10_000n;
  const values = reports.flatMap(({ outcome, value }) => (outcome === "OK" ? [BigInt(value)] : []));
  if (dataset.kind !== "median" || data.status !== "OK" || reach === 0n || values.length === 0) return null;
  const farthest = values.reduce((most, value) => max(most, value > stored ? value - stored : stored - value), 0n);
  const half = farthest > reach ? farthest : reach;
  const at = (value: bigint) => Number(((value - stored + half) * BigInt(WIDTH)) / (2n * half));
  const tolerance = dataset.tolerance_bps / 100;
  return (
    <div class="spread">
      <svg viewBox={`-12 0 ${WIDTH + 24} 44`} aria-hidden="true">
        <rect
          class="spread-band"
          x={at(stored - reach)}
          y="8"
          width={at(stored + reach) - at(stored - reach)}
          height="28"
          rx="4"
        />
        <path class="spread-line" d={`M0 22H${WIDTH}`} />
        <path class="spread-median" d={`M${at(stored)} 2V42`} />
        {values.map((value, place) => (
          <circle key={reports[place]?.provider} class="spread-dot" cx={at(value)} cy="22" r="7" />
        ))}
      </svg>
      <p class="spread-words">
        <span>−{tolerance} %</span>
        <span>stored value</span>
        <span>+{tolerance} %</span>
      </p>
    </div>
  );
}

const max = (one: bigint, other: bigint) => (one > other ? one : other);
