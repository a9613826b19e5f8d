import { Notice } from "../components/notice";
import { networkName } from "../format/names";
import type { WalletError } from "../wallet/wallet";

/** Explains why a wallet did not send the transaction. */
export function WalletNote({ error, networkId }: { error: WalletError; networkId: number }) {
  const name = networkName(networkId);
  switch (error.refusal) {
    case "rejected":
      return (
        <Notice tone="warn" title="You rejected the transaction in your wallet.">
          Nothing was sent. You can send it again or copy it below.
        </Notice>
      );
    case "unknown_chain":
      return (
        <Notice title={`Your wallet does not know ${name}.`}>
          Add the network with chain id {networkId} and an RPC endpoint that you trust, then send the transaction again.
        </Notice>
      );
    default:
      return (
        <Notice title="Your wallet did not send the transaction.">
          Its message is: “{error.said}”. Nothing was sent. Try again, or copy the transaction below.
        </Notice>
      );
  }
}
