import type { ComponentChildren } from "preact";
import { formatNumber } from "../format/values";
import { Explain, type Term } from "./explain";

interface FactProps {
  readonly name: string;
  readonly wide?: boolean;
  readonly term?: Term;
  readonly children: ComponentChildren;
}

/** A term and its description, in a list of facts. */
export function Fact({ name, wide, term, children }: FactProps) {
  return (
    <div class={wide ? "whole" : ""}>
      <dt>
        {name} {term && <Explain term={term} />}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Shows the price of a query: in wei below one gwei, otherwise in Ether. */
export function QueryPrice({ wei }: { wei: string | null }) {
  if (wei === null) return <span class="quiet">unknown</span>;
  const amount = BigInt(wei);
  if (amount === 0n) return <>free</>;
  const inWei = `${formatNumber(amount)} wei`;
  return <span title={inWei}>{amount < 10n ** 9n ? inWei : `${formatNumber(amount, 18)} ETH`}</span>;
}
