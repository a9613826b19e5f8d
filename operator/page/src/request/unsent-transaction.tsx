import type { UnsentUpdate } from "@dataset-oracle/protocol";
import type { NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { useState } from "preact/hooks";
import { numberToHex } from "viem";
import { announce } from "../components/announce";
import { CodeBlock, Hex } from "../components/copy";
import { Notice } from "../components/notice";
import { networkName } from "../format/names";
import type { Sending } from "../wallet/send-from-wallet";
import { useWallets, type Wallet } from "../wallet/use-wallets";

interface Props {
  readonly update: UnsentUpdate;
  readonly network: NetworkOverview;
  readonly onStored: (() => void) | undefined;
}

/** Shows a transaction for the user to send with a browser wallet or by copying it. */
export function UnsentTransaction({ update: { transaction }, network, onStored }: Props) {
  const wallets = useWallets();
  const [sending, setSending] = useState<Sending | null>(null);
  const isBusy = sending !== null && ["connecting", "switching", "confirming", "waiting"].includes(sending.step);
  const note = sending && noteOn(sending, network.network_id);

  const send = async ({ provider }: Wallet) => {
    const { sendFromWallet } = await import("../wallet/send-from-wallet");
    await sendFromWallet(provider, transaction, (next) => {
      setSending(next);
      announce(noteOn(next, network.network_id).title);
    });
    onStored?.();
  };

  const { chainId, to, data, value, gas } = transaction;
  const plain = { chainId: numberToHex(chainId), to, data, value: numberToHex(value), gas: numberToHex(gas) };
  return (
    <>
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
      {wallets.map((wallet) => (
        <button
          type="button"
          class="more"
          key={wallet.info.uuid}
          aria-disabled={isBusy}
          onClick={() => !isBusy && send(wallet)}
        >
          {wallet.info.icon && <img src={wallet.info.icon} alt="" width="20" height="20" />}
          Send with {wallet.info.name}
        </button>
      ))}
      {note && (
        <Notice tone={note.tone} title={note.title}>
          {note.advice} {sending.hash && <Hex hex={sending.hash} what="the transaction hash" />}
        </Notice>
      )}
      <CodeBlock name="Transaction" what="the transaction" text={JSON.stringify(plain, null, 2)} />
    </>
  );
}

interface Note {
  readonly tone: "info" | "warn" | "bad";
  readonly title: string;
  readonly advice?: string;
}

/** Describes the state of a wallet's transaction. */
function noteOn({ step, block, message }: Sending, chainId: number): Note {
  const network = networkName(chainId);
  const notes: Record<Sending["step"], Note> = {
    connecting: { tone: "info", title: "Connect an account in your wallet." },
    switching: { tone: "info", title: `Let your wallet switch to ${network}.` },
    confirming: { tone: "info", title: "Confirm the transaction in your wallet." },
    waiting: { tone: "info", title: "The transaction has been sent. Waiting until it is mined." },
    mined: { tone: "info", title: `The transaction was mined in block ${block}. The value is stored.` },
    overtaken: {
      tone: "info",
      title: "Another update was faster, so yours changed nothing. The value is just as fresh.",
    },
    reverted: {
      tone: "warn",
      title: "The contract rejected the update, most likely because it is too old by now.",
      advice: "Request it again.",
    },
    unseen: { tone: "warn", title: "The transaction has not been mined yet. Your wallet shows its state." },
    rejected: {
      tone: "warn",
      title: "You rejected the transaction in your wallet.",
      advice: "Nothing was sent. You can send it again or copy it below.",
    },
    unknown_chain: {
      tone: "bad",
      title: `Your wallet does not know ${network}.`,
      advice: `Add the network with chain id ${chainId} and an RPC endpoint that you trust, then send it again.`,
    },
    failed: {
      tone: "bad",
      title: "Your wallet did not send the transaction.",
      advice: `Its message is: “${message}”. Nothing was sent. Try again, or copy the transaction below.`,
    },
  };
  return notes[step];
}
