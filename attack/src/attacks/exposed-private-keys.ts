import { readFileSync } from "node:fs";
import { findLeakedSecrets } from "@dataset-oracle/devnet/test-support/find-leaked-secrets";
import type { Attack } from "../attack.js";
import { call } from "../http.js";

export const exposedPrivateKeys: Attack = {
  name: "exposed-private-keys",
  breach: "the environment, arguments, log or answers of a provider that was started with a key file contain its key",
  isFast: true,
  async run(network, tally) {
    for (const provider of network.providers) {
      const key = { key: provider.privateKey };
      const places: Record<string, string> = {
        environment: readProcess(provider.pid, "environ"),
        arguments: readProcess(provider.pid, "cmdline"),
        log: provider.log(),
      };
      for (const path of ["/", "/live", "/ready", "/openapi.json", `/${provider.name}.key`, "/metrics"]) {
        places[path] = (await call(`${provider.url}${path}`, { from: network.caller() })).text;
      }
      for (const [place, text] of Object.entries(places)) {
        tally.attempt();
        const leaks = findLeakedSecrets(text, key);
        if (leaks.length > 0) tally.breach(`${provider.name}, ${place}: ${leaks[0]}`);
      }
    }
  },
};

/** Empty where there is no /proc. */
function readProcess(pid: number, file: string) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
