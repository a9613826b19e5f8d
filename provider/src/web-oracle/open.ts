import type { Logger } from "pino";
import type { SourceOverrides } from "../source-overrides.js";
import type { WebOraclePlan } from "./plan.js";
import { Registry } from "./registry.js";
import { SpecFolder } from "./spec-folder.js";
import { Specs } from "./specs.js";
import { WebOracle } from "./web-oracle.js";

/** The Web Oracle as its owner planned it. The first key that is asked for connects it. */
export function openWebOracle(
  { registries, folder, hosts, rateLimitOf }: WebOraclePlan,
  overrides: SourceOverrides,
  hasReserve: boolean,
  logger: Logger,
): WebOracle {
  const specs = new Specs({
    registries: new Map(registries.map((settings) => [settings.chainId, new Registry(settings)])),
    folder: new SpecFolder(folder),
    hasReserve,
    logger,
  });
  return new WebOracle({ specs, hosts, rateLimitOf, overrides });
}
