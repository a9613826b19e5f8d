import { readFileSync } from "node:fs";
import { PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { findLeakedSecrets } from "@dataset-oracle/devnet/find-leaked-secrets";
import { call } from "../http.js";

export const exposedPrivateKeys = {
  name: "exposed-private-keys",
  breach: "the environment, arguments, log or answers of a provider that was started with a key file contain its key",
  isFast: true,
  async run(network, tally) {
    for (const provider of network.providers) {
      const key = { key: PROVIDERS[provider.index].privateKey };
      const places = {
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
function readProcess(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
