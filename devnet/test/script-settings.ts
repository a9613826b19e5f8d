import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The settings of one dataset in script/config. */
interface DatasetSettings {
  owner: string;
  members: string[];
  toleranceBps: string;
  queryPrice: string;
  priceCeiling: string;
  subscriptionPrice: string;
  subscriptionPriceCeiling: string;
  maxRoundAge: string;
  keys: string[];
}

type Settings = { chainId: number } & Record<"financial" | "webOracleNumber" | "webOracleBytes", DatasetSettings>;

/** The committed example of a network. */
export const settingsOf = (chainId: number): Settings =>
  JSON.parse(readFileSync(join(ROOT, `script/config/${chainId}.json`), "utf8"));
