import { useEffect, useState } from "preact/hooks";
import type { Eip1193Provider, Wallet } from "./provider";

/** EIP-6963: how a wallet announces itself. */
interface Announced {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon: string };
  readonly provider: Eip1193Provider;
}

/** The wallets of this browser: those that announce themselves, else the one that is just there. */
export function useWallets(): readonly Wallet[] {
  const [wallets, setWallets] = useState<readonly Wallet[]>([]);
  useEffect(() => {
    const add = (event: Event) => {
      const { info, provider } = (event as CustomEvent<Announced>).detail;
      const icon = /^data:image\//.test(info.icon) ? info.icon : null;
      const wallet = { id: info.uuid, name: info.name, icon, provider };
      setWallets((before) => [...before.filter(({ id }) => id !== wallet.id), wallet]);
    };
    addEventListener("eip6963:announceProvider", add);
    dispatchEvent(new Event("eip6963:requestProvider"));
    return () => removeEventListener("eip6963:announceProvider", add);
  }, []);
  const { ethereum } = window as { ethereum?: Eip1193Provider };
  if (wallets.length > 0 || !ethereum) return wallets;
  return [{ id: "window.ethereum", name: "Browser wallet", icon: null, provider: ethereum }];
}
