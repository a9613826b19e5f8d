import { useState } from "preact/hooks";
import { type Hash, numberToHex } from "viem";
import { CodeBlock } from "../components/code-block";
import { Hex } from "../components/hex";
import { Notice } from "../components/notice";
import { tellScreenReaders } from "../components/tell-screen-readers";
import { networkName } from "../format/network-and-dataset-names";
import type { Sending, WalletTransaction } from "./send-from-wallet";
import { useWallets, type Wallet } from "./use-wallets";

interface Props {
  /** Names what the buttons do. */
  readonly verb: string;
  /** It can be copied by whoever has no wallet here. */
  readonly transaction: WalletTransaction;
  /** The spec that the transaction publishes; undefined for an update. */
  readonly specHash?: Hash;
  readonly words: Words;
  /** Called when the transaction has had its effect. */
  readonly onMined: (() => void) | undefined;
}

/** The words about a transaction that depend on its purpose. */
interface Words {
  /** The effect of a transaction that was mined. */
  readonly mined: string;
  /** The reason why a transaction that was mined had no effect. */
  readonly overtaken: string;
  readonly reverted: string;
  readonly afterRevert: string;
}

/** Sends a transaction with one of the browser's wallets, or shows it for copying. */
export function WalletSection({ verb, transaction, specHash, words, onMined }: Props) {
  const { chainId, to, data, value, gas } = transaction;
  const wallets = useWallets();
  const [sending, setSending] = useState<Sending | null>(null);
  const isBusy = sending !== null && ["connecting", "switching", "confirming", "waiting"].includes(sending.step);
  const note = sending && noteOn(sending, chainId, words);
  const onStep = (next: Sending) => {
    setSending(next);
    tellScreenReaders(noteOn(next, chainId, words).title);
    if (next.step === "mined") onMined?.();
  };
  const start = async ({ provider }: Wallet) => {
    onStep({ step: "connecting" });
    // An operator that has been updated serves only the files of its new page.
    const loaded = await import("./send-from-wallet").catch(() => null);
    if (loaded === null) return onStep({ step: "not_loaded" });
    await loaded.sendFromWallet(provider, transaction, specHash, onStep);
  };
  const gasText = gas === undefined ? {} : { gas: numberToHex(gas) };
  const plain = { chainId: numberToHex(chainId), to, data, value: numberToHex(value), ...gasText };
  return (
    <>
      {wallets.length === 0 && (
        <Notice tone="info" title="This browser has no wallet.">
          Install one, or copy the transaction below and send it from any account.
        </Notice>
      )}
      {wallets.map((wallet) => (
        <button
          type="button"
          class="more"
          key={wallet.info.uuid}
          aria-disabled={isBusy}
          onClick={() => !isBusy && void start(wallet)}
        >
          {wallet.info.icon && <img src={wallet.info.icon} alt="" width="20" height="20" />}
          {verb} with {wallet.info.name}
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
function noteOn({ step, block, message }: Sending, chainId: number, words: Words): Note {
  const network = networkName(chainId);
  const notes: Record<Sending["step"], Note> = {
    connecting: { tone: "info", title: "Connect an account in your wallet." },
    switching: { tone: "info", title: `Let your wallet switch to ${network}.` },
    confirming: { tone: "info", title: "Confirm the transaction in your wallet." },
    waiting: { tone: "info", title: "The transaction has been sent. Waiting until it is mined." },
    mined: { tone: "info", title: `The transaction was mined in block ${block}. ${words.mined}` },
    overtaken: { tone: "info", title: words.overtaken },
    reverted: { tone: "warn", title: words.reverted, advice: words.afterRevert },
    unseen: {
      tone: "warn",
      title: "This transaction is still pending, or your wallet replaced or cancelled it. Your wallet shows its state.",
    },
    not_loaded: {
      tone: "bad",
      title: "This part of the page could not be loaded.",
      advice: "Nothing was sent. Check your connection and reload the page, or copy the transaction below.",
    },
    rejected: {
      tone: "warn",
      title: "You rejected the transaction in your wallet.",
      advice: "Nothing was sent. You can send it again or copy it below.",
    },
    unknown_chain: {
      tone: "bad",
      title: `Your wallet does not have the network ${network}.`,
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
