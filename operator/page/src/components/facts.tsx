import type { ComponentChildren } from "preact";
import { formatEther } from "viem";
import { formatExact } from "../format/values";

/** A term and its description, in a list of facts. */
export function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ComponentChildren }) {
  return (
    <div class={wide ? "whole" : ""}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Shows the price of a query: in wei below one gwei, otherwise in Ether. */
export function QueryPrice({ wei }: { wei: string | null }) {
  if (wei === null) return <span class="quiet">unknown</span>;
  const amount = BigInt(wei);
  if (amount === 0n) return <>free</>;
  const inWei = `${formatExact(amount, 0)} wei`;
  return <span title={inWei}>{amount < 10n ** 9n ? inWei : `${formatEther(amount)} ETH`}</span>;
}
