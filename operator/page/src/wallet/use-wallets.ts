import { useEffect, useState } from "preact/hooks";
import type { Eip1193Provider, Wallet } from "./wallet";

/** EIP-6963: the announcement of a wallet. */
interface Announced {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon: string };
  readonly provider: Eip1193Provider;
}

/** Returns the wallets that announce themselves, or else the injected `window.ethereum`. */
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
