import type { DataPointAnswer, DatasetOverview, LastUpdate } from "@dataset-oracle/protocol/wire-data";

interface Props {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
  readonly reports: NonNullable<LastUpdate["reports"]>;
}

/** Positions on the line, in hundredths of a per cent. */
const STEPS = 10_000n;

/**
 * Plots the signed values on a line around the stored one, at least as wide as the tolerance on both sides. The table
 * below has the same numbers.
 */
export function Spread({ data, dataset, reports }: Props) {
  const stored = BigInt(data.value);
  const reach = (stored * BigInt(dataset.tolerance_bps)) / 10_000n;
  const values = reports.flatMap(({ outcome, value }) => (outcome === "OK" ? [BigInt(value)] : []));
  if (dataset.kind !== "median" || data.status !== "OK" || reach === 0n || values.length === 0) return null;
  const farthest = values.reduce((most, value) => max(most, value > stored ? value - stored : stored - value), 0n);
  const half = farthest > reach ? farthest : reach;
  const at = (value: bigint) => `${Number(((value - stored + half) * STEPS) / (2n * half)) / 100}%`;
  const tolerance = dataset.tolerance_bps / 100;
  const band = { left: at(stored - reach), right: at(stored - reach) };
  return (
    <div class="spread" aria-hidden="true">
      <div class="spread-line">
        <i class="spread-band" style={band} />
        <i class="spread-axis" />
        <i class="spread-stored" style={{ left: at(stored) }} />
        {values.map((value, place) => (
          <i key={reports[place]?.provider} class="spread-dot" style={{ left: at(value) }} />
        ))}
      </div>
      <p class="spread-words">
        <span>−{tolerance} %</span>
        <span>stored value</span>
        <span>+{tolerance} %</span>
      </p>
    </div>
  );
}

const max = (one: bigint, other: bigint) => (one > other ? one : other);
