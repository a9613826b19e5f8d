import { Hex } from "../components/hex";
import { TroubleNote } from "../components/trouble-note";
import type { Sending } from "../wallet/send";

/** How far a wallet's transaction is, in a sentence. */
export function sendingWords(sending: Sending, network: string): string {
  switch (sending.step) {
    case "connecting":
      return "Connect an account in your wallet.";
    case "switching":
      return `Let your wallet go to ${network}.`;
    case "confirming":
      return "Confirm the transaction in your wallet.";
    case "waiting":
      return "It is sent. Waiting until it is mined.";
    case "mined":
      return `It is mined in block ${sending.block}: the value is stored.`;
    case "reverted":
      return "The contract refused it. Mostly somebody else was faster, and the value is fresh: look at its age.";
    case "unseen":
      return "It is not mined yet. Your wallet knows how it goes on.";
  }
}

export function SendingNote({ sending, network }: { sending: Sending; network: string }) {
  const tone = sending.step === "reverted" || sending.step === "unseen" ? "warn" : "info";
  return (
    <TroubleNote tone={tone} title={sendingWords(sending, network)}>
      {"hash" in sending && <Hex hex={sending.hash} what="the transaction hash" />}
    </TroubleNote>
  );
}
