import { grouped, toDecimal } from "../format/number";

/** Shows a price in wei, or in Ether if that is shorter. */
export function Price({ wei }: { wei: string | null }) {
  if (wei === null) return <span class="quiet">unknown</span>;
  const amount = BigInt(wei);
  if (amount === 0n) return <>free</>;
  return (
    <span title={`${grouped(wei)} wei`}>
      {amount < 10n ** 9n ? `${grouped(wei)} wei` : `${toDecimal(amount, 18)} ETH`}
    </span>
  );
}
