import { PROVIDERS } from "./accounts.js";
import type { Settings } from "./arguments.js";
import { Components } from "./components.js";
import { createFolder, type Folder } from "./folder.js";

/** One devnet: its settings, the folder of its files, its URLs, and everything that it has started. */
export interface Devnet {
  readonly settings: Settings;
  readonly folder: Folder;
  readonly components: Components;
  readonly chainUrl: string;
  /** The operator's, or the first node's. */
  readonly operatorUrl: string;
  /** One URL, or those of the nodes: in the order of their providers. */
  readonly operatorUrls: readonly string[];
  /** In the order of the committee. */
  readonly providerUrls: readonly string[];
  readonly marketUrl: string;
}

/** Creates the folder of a devnet; it starts nothing. */
export function createDevnet(settings: Settings): Devnet {
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    settings,
    folder: createFolder(settings.chainPort),
    components: new Components(),
    chainUrl: url(settings.chainPort),
    operatorUrl: url(settings.operatorPort),
    operatorUrls: Array.from({ length: settings.nodes ?? 1 }, (_, index) => url(settings.operatorPort + index)),
    providerUrls: PROVIDERS.map((_, index) => url(settings.providerPort + index)),
    marketUrl: url(settings.marketPort),
  };
}
