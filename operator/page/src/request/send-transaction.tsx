import type { UnsentUpdate } from "@dataset-oracle/protocol";
import { WalletSection } from "../wallet/wallet-section";

interface Props {
  readonly update: UnsentUpdate;
  readonly onStored: (() => void) | undefined;
}

const WORDS = {
  mined: "The value is stored.",
  overtaken: "Another update was faster, so yours changed nothing. The value is just as fresh.",
  reverted: "The contract rejected the update, most likely because it is too old by now.",
  afterRevert: "Request it again.",
};

/** Shows a transaction for the user to send with a browser wallet or by copying it. */
export function SendTransaction({ update: { transaction }, onStored }: Props) {
  return (
    <>
      <h3>Send the transaction</h3>
      <p class="quiet">
        The page has verified that this transaction updates this key and does nothing else. It is valid for a few
        minutes.
      </p>
      <WalletSection verb="Send" transaction={transaction} words={WORDS} onMined={onStored} />
    </>
  );
}
