import type { UnsentUpdate } from "@dataset-oracle/protocol";
import type { NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { useState } from "preact/hooks";
import { useAnnounce } from "../components/announcer";
import { CodeBlock } from "../components/code-block";
import { Notice } from "../components/notice";
import { networkName } from "../format/names";
import { type Sending, sendFromWallet } from "../wallet/send";
import { useWallets } from "../wallet/use-wallets";
import { type Wallet, WalletError } from "../wallet/wallet";
import { SendingNote, sendingWords } from "./sending-note";
import { WalletNote } from "./wallet-note";

interface Props {
  readonly update: UnsentUpdate;
  readonly network: NetworkOverview;
  readonly onStored: (() => void) | undefined;
}

/** Shows a transaction for the user to send with a browser wallet or by copying it. */
export function UnsentTransaction({ update, network, onStored }: Props) {
  const { transaction } = update;
  const wallets = useWallets();
  const [sending, setSending] = useState<Sending | null>(null);
  const [error, setError] = useState<WalletError | null>(null);
  const announce = useAnnounce();
  const name = networkName(network.network_id);

  const send = async (wallet: Wallet) => {
    setError(null);
    const tell = (next: Sending) => {
      setSending(next);
      announce(sendingWords(next, name));
    };
    try {
      await sendFromWallet(wallet, transaction, tell);
      onStored?.();
    } catch (thrown) {
      const refused = thrown instanceof WalletError ? thrown : new WalletError("failed", String(thrown));
      setSending(null);
      setError(refused);
      announce(`The wallet did not send the transaction. ${refused.said}`);
    }
  };

  const isBusy = sending !== null && !["mined", "reverted", "unseen"].includes(sending.step);
  const { to, data, value, gas } = transaction;
  const plain = {
    chainId: `0x${transaction.chainId.toString(16)}`,
    to,
    data,
    value: `0x${value.toString(16)}`,
    gas: `0x${gas.toString(16)}`,
  };
  return (
    <div class="unsent">
      <h3>Send the transaction</h3>
      <p class="quiet">
        The page has verified that this transaction updates this key and does nothing else. It is valid for a few
        minutes.
      </p>
      {wallets.length === 0 && (
        <Notice tone="info" title="This browser has no wallet.">
          Install one or copy the transaction below.
        </Notice>
      )}
      <div class="wallets">
        {wallets.map((wallet) => (
          <button
            type="button"
            key={wallet.id}
            class="wallet"
            aria-disabled={isBusy}
            onClick={() => !isBusy && send(wallet)}
          >
            {wallet.icon && <img src={wallet.icon} alt="" width="20" height="20" />}
            Send with {wallet.name}
          </button>
        ))}
      </div>
      {sending && <SendingNote sending={sending} network={name} />}
      {error && <WalletNote error={error} networkId={network.network_id} />}
      <CodeBlock name="Transaction" what="the transaction" text={JSON.stringify(plain, null, 2)} />
    </div>
  );
}
