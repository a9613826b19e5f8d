import type { UnsentUpdate } from "@dataset-oracle/protocol";
import { useEffect, useState } from "preact/hooks";
import { type EIP1193Provider, numberToHex } from "viem";
import { CodeBlock, Hex, tellScreenReaders } from "../components/copy";
import { Notice } from "../components/notices";
import { networkName } from "../format/names";
import { formatNumber } from "../format/values";
import type { Sending } from "./send-from-wallet";

/** A browser wallet, as it announces itself (EIP-6963). */
interface Wallet {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon?: string };
  readonly provider: EIP1193Provider;
}

interface WalletSectionProps {
  readonly transaction: UnsentUpdate["transaction"];
  /** Called when the transaction has stored a value. */
  readonly onStored: (() => void) | undefined;
}

/** Sends an update with one of the browser's wallets, or shows it for copying. */
export function WalletSection({ transaction, onStored }: WalletSectionProps) {
  const { chainId, to, data, value, gas } = transaction;
  const wallets = useWallets();
  const [sending, setSending] = useState<Sending | null>(null);
  const isBusy = sending !== null && ["connecting", "switching", "confirming", "waiting"].includes(sending.step);
  const note = sending && noteOn(sending, chainId);
  const onStep = (next: Sending) => {
    setSending(next);
    tellScreenReaders(noteOn(next, chainId).title);
    if (next.step === "mined") onStored?.();
  };
  const start = async ({ provider }: Wallet) => {
    onStep({ step: "connecting" });
    // An operator that has been updated serves only the files of its new page.
    const loaded = await import("./send-from-wallet").catch(() => null);
    if (loaded === null) return onStep({ step: "not_loaded" });
    await loaded.sendFromWallet(provider, transaction, onStep);
  };
  const plain = { chainId: numberToHex(chainId), to, data, value: numberToHex(value), gas: numberToHex(gas) };
  return (
    <>
      <h3>Send the transaction</h3>
      <p class="quiet">
        The page has verified that this transaction updates this key and does nothing else. It is valid for a few
        minutes.
      </p>
      {wallets.length === 0 && (
        <Notice tone="info" title="No wallet shows itself to this page.">
          Install or unlock one, or copy the transaction below and send it from any account.
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
          Send with {wallet.info.name}
        </button>
      ))}
      {note && (
        <Notice tone={note.tone} title={note.title}>
          {note.advice} {sending.hash && <Hex hex={sending.hash} what="the transaction hash" />}
        </Notice>
      )}
      <CodeBlock what="the transaction" text={JSON.stringify(plain, null, 2)} />
    </>
  );
}

/** Returns the wallets that announce themselves, or else the injected `window.ethereum`, also if that comes late. */
function useWallets(): readonly Wallet[] {
  const [wallets, setWallets] = useState<readonly Wallet[]>([]);
  const [provider, setProvider] = useState(injected);
  useEffect(() => {
    const add = (event: Event) => {
      const { detail: wallet } = event as CustomEvent<Wallet>;
      setWallets((before) => [...before.filter(({ info }) => info.uuid !== wallet.info.uuid), wallet]);
    };
    addEventListener("eip6963:announceProvider", add);
    dispatchEvent(new Event("eip6963:requestProvider"));
    const looking = setInterval(() => setProvider(injected), 1_000);
    return () => {
      removeEventListener("eip6963:announceProvider", add);
      clearInterval(looking);
    };
  }, []);
  if (wallets.length > 0 || !provider) return wallets;
  return [{ info: { uuid: "window.ethereum", name: "Browser wallet" }, provider }];
}

const injected = () => (window as { ethereum?: EIP1193Provider }).ethereum;

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
    mined: {
      tone: "info",
      title: `The transaction was mined in block ${formatNumber(block ?? 0n)}. The value is stored.`,
    },
    overtaken: {
      tone: "info",
      title: "Another update was faster, so yours changed nothing. The value is just as fresh.",
    },
    reverted: {
      tone: "warn",
      title: "The contract rejected the update, most likely because it is too old by now.",
      advice: "Request it again.",
    },
    unseen: {
      tone: "warn",
      title: "The transaction is still pending, or your wallet replaced or cancelled it, or changed its network.",
      advice: "Your wallet shows its state.",
    },
    unclear: {
      tone: "warn",
      title: "Your wallet reported an error, but may have sent the transaction.",
      advice: "Look into your wallet's activity before you send it again.",
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
    no_account: {
      tone: "warn",
      title: "Your wallet gives this page no account.",
      advice: "Nothing was sent. Unlock your wallet, connect an account to this page, and send it again.",
    },
    busy: {
      tone: "warn",
      title: "Your wallet already waits for an answer.",
      advice: "Nothing was sent. Open your wallet, answer what it asks, and send it again.",
    },
    wrong_chain: {
      tone: "warn",
      title: `Your wallet is on another network than ${network}.`,
      advice: "Nothing was sent. Switch your wallet's network, and send it again.",
    },
    unknown_chain: {
      tone: "bad",
      title: `Your wallet does not have the network ${network}.`,
      advice: `Add the network with chain id ${chainId} and an RPC endpoint that you trust, then send it again.`,
    },
    failed: {
      tone: "bad",
      title: "Your wallet did not send the transaction.",
      advice: `${message ? `Its message is: “${message}”. ` : ""}Nothing was sent. Try again, or copy the transaction below.`,
    },
  };
  return notes[step];
}
