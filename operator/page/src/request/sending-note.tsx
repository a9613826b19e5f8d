import { Hex } from "../components/hex";
import { Notice } from "../components/notice";
import type { Sending } from "../wallet/send";

/** Returns the state of a wallet's transaction as a sentence. */
export function sendingWords(sending: Sending, network: string): string {
  switch (sending.step) {
    case "connecting":
      return "Connect an account in your wallet.";
    case "switching":
      return `Let your wallet switch to ${network}.`;
    case "confirming":
      return "Confirm the transaction in your wallet.";
    case "waiting":
      return "The transaction has been sent. Waiting until it is mined.";
    case "mined":
      return `The transaction was mined in block ${sending.block}. The value is stored.`;
    case "reverted":
      return "The contract rejected the update, most likely because another one was faster. Check the age of the value.";
    case "unseen":
      return "The transaction has not been mined yet. Your wallet shows its state.";
  }
}

export function SendingNote({ sending, network }: { sending: Sending; network: string }) {
  const tone = sending.step === "reverted" || sending.step === "unseen" ? "warn" : "info";
  return (
    <Notice tone={tone} title={sendingWords(sending, network)}>
      {"hash" in sending && <Hex hex={sending.hash} what="the transaction hash" />}
    </Notice>
  );
}
