import { useEffect, useState } from "preact/hooks";
import type { EIP1193Provider } from "viem";

/** A browser wallet, as it announces itself (EIP-6963). */
export interface Wallet {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon?: string };
  readonly provider: EIP1193Provider;
}

/** Returns the wallets that announce themselves, or else the injected `window.ethereum`. */
export function useWallets(): readonly Wallet[] {
  const [wallets, setWallets] = useState<readonly Wallet[]>([]);
  useEffect(() => {
    const add = (event: Event) => {
      const { detail: wallet } = event as CustomEvent<Wallet>;
      setWallets((before) => [...before.filter(({ info }) => info.uuid !== wallet.info.uuid), wallet]);
    };
    addEventListener("eip6963:announceProvider", add);
    dispatchEvent(new Event("eip6963:requestProvider"));
    return () => removeEventListener("eip6963:announceProvider", add);
  }, []);
  const { ethereum: provider } = window as { ethereum?: EIP1193Provider };
  if (wallets.length > 0 || !provider) return wallets;
  return [{ info: { uuid: "window.ethereum", name: "Browser wallet" }, provider }];
}
