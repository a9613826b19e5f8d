import { shortHex } from "../format/names";
import { Copy } from "./copy";

/** An address or a hash: short to the eye, whole to copy. */
export function Hex({ hex, what, whole = false }: { hex: string; what: string; whole?: boolean }) {
  return (
    <span class="hex">
      <code title={hex}>{whole ? hex : shortHex(hex)}</code>
      <Copy text={hex} what={what} />
    </span>
  );
}
