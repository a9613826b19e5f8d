import { PROVIDERS } from "./accounts.js";
import { createDataFolder, type DataFolder } from "./data-folder.js";
import type { DevnetOptions } from "./options.js";
import { RunningComponents } from "./shutdown.js";

/** One devnet: its options, the folder of its files, its URLs, and everything that it has started. */
export interface DevnetContext {
  readonly options: DevnetOptions;
  readonly folder: DataFolder;
  readonly components: RunningComponents;
  readonly chainUrl: string;
  /** The only or the first operator's. */
  readonly operatorUrl: string;
  /** Of several operators, in the order of their providers. */
  readonly operatorUrls: readonly string[];
  /** In the order of the committee. */
  readonly providerUrls: readonly string[];
  readonly marketUrl: string;
}

/** Creates the context of a devnet, with its folder. Starts nothing. */
export function createDevnetContext(options: DevnetOptions): DevnetContext {
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    options,
    folder: createDataFolder(options.chainPort),
    components: new RunningComponents(),
    chainUrl: url(options.chainPort),
    operatorUrl: url(options.operatorPort),
    operatorUrls: Array.from({ length: options.operators ?? 1 }, (_, index) => url(options.operatorPort + index)),
    providerUrls: PROVIDERS.map((_, index) => url(options.providerPort + index)),
    marketUrl: url(options.marketPort),
  };
}
