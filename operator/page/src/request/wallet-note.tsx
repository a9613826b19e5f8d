import { TroubleNote } from "../components/trouble-note";
import { networkName } from "../format/names";
import type { WalletError } from "../wallet/provider";

/** Why a wallet did not send the transaction. */
export function WalletNote({ error, networkId }: { error: WalletError; networkId: number }) {
  const name = networkName(networkId);
  switch (error.refusal) {
    case "rejected":
      return (
        <TroubleNote tone="warn" title="You refused it in your wallet.">
          Nothing was sent. You can send it again, or copy it below.
        </TroubleNote>
      );
    case "unknown_chain":
      return (
        <TroubleNote title={`Your wallet does not know ${name}.`}>
          Add the network with the chain id {networkId} there, with an RPC endpoint that you trust, and send it again.
        </TroubleNote>
      );
    default:
      return (
        <TroubleNote title="Your wallet did not send it.">
          It says: “{error.said}”. Nothing was sent. Try again, or copy the transaction below.
        </TroubleNote>
      );
  }
}
