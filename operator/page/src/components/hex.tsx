import { shortHex } from "../format/hex";
import { CopyButton } from "./copy-button";
import { useExplorer } from "./explorer-context";

interface HexProps {
  readonly hex: string;
  readonly what: string;
  readonly whole?: boolean;
  /** Where the network's block explorer shows it. */
  readonly at?: "address" | "tx";
}

/** Shows an address or a hash, shortened unless it is shown whole, with a button that copies all of it. */
export function Hex({ hex, what, whole = false, at }: HexProps) {
  const explorer = useExplorer();
  const code = <code title={hex}>{whole ? hex : shortHex(hex)}</code>;
  return (
    <span class="hex">
      {at && explorer ? (
        <a
          href={`${explorer}/${at}/${hex}`}
          target="_blank"
          rel="noopener noreferrer"
          title={`Show ${what} in the block explorer`}
        >
          {code}
        </a>
      ) : (
        code
      )}
      <CopyButton text={hex} what={what} />
    </span>
  );
}
