import type { DataPointAnswer, LastUpdate } from "@dataset-oracle/protocol/http-schemas/data";
import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";

interface Props {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
  readonly reports: NonNullable<LastUpdate["reports"]>;
}

/**
 * Plots the signed values on a line around the stored one, at least as wide as the tolerance on both sides. The table
 * below has the same numbers.
 */
export function SignedValuesPlot({ data, dataset, reports }: Props) {
  const stored = BigInt(data.value);
  const reach = (stored * BigInt(dataset.tolerance_bps)) / 10_000n;
  const signed = reports.filter(({ outcome }) => outcome === "OK");
  if (dataset.kind !== "median" || data.status !== "OK" || reach === 0n || signed.length === 0) return null;
  // The distances from the stored value, as multiples of the tolerance. A float is precise enough for a position.
  const dots = signed.map(({ provider, value }) => ({ provider, at: Number(BigInt(value) - stored) / Number(reach) }));
  const half = Math.max(1, ...dots.map(({ at }) => Math.abs(at)));
  const x = (at: number) => `${50 + (50 * at) / half}%`;
  const tolerance = dataset.tolerance_bps / 100;
  return (
    <div class="spread" aria-hidden="true">
      <svg aria-hidden="true">
        <rect x={x(-1)} y="12%" width={`${100 / half}%`} height="76%" rx="4" stroke="none" />
        <line x1="0" x2="100%" y1="50%" y2="50%" stroke="var(--line-strong)" />
        <line x1="50%" x2="50%" y1="0" y2="100%" />
        {dots.map(({ provider, at }) => (
          <circle key={provider} cx={x(at)} cy="50%" r="6.5" />
        ))}
      </svg>
      <p class="small quiet">
        <span>−{tolerance} %</span>
        <span>stored value</span>
        <span>+{tolerance} %</span>
      </p>
    </div>
  );
}
