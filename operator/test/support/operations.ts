import type { PluginName } from "../../src/config.js";

/** The operations of the API, by the plugin that has them: every test that lists them takes them from here. */
export const OPERATIONS: Readonly<Record<PluginName | "core", readonly string[]>> = {
  core: ["get /datasets", "get /live", "get /ready", "post /data/request"],
  feeds: [],
  gateway: ["get /gateway/{networkId}/{sender}/{data}", "post /gateway/{networkId}"],
  page: ["get /data", "get /history", "get /overview"],
  watchdog: [],
};

/** Lists the operations of an OpenAPI document. */
export const operationsOf = (document: { readonly paths: Readonly<Record<string, object>> }): string[] =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
    .toSorted();
