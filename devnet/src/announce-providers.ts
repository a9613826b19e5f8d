import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { SUBMITTERS } from "./accounts.js";
import type { DevnetContext } from "./devnet-context.js";
import { providerKeyFile } from "./start-services.js";

const COMMAND = join(ROOT, "provider", "dist", "main.js");
const ANNOUNCE_MS = 60_000;

/**
 * Announces the URL of each provider. Each announcement is sent from an account of its own: if one account sent them all
 * at once, anvil could give two of them the same nonce.
 */
export async function announceProviders({ folder, chainUrl, providerUrls }: DevnetContext): Promise<void> {
  const network = ["--deployment", folder.file("deployments", "42.json"), "--rpc-url", chainUrl];
  await Promise.all(
    providerUrls.map((url, index) => {
      const sender = SUBMITTERS[index];
      if (sender === undefined)
        throw new Error(`There is no account to send the announcement of provider ${index + 1}.`);
      const place = ["--url", url, "--from", sender.address, "--allow-local"];
      const env = { ...process.env, PROVIDER_PRIVATE_KEY_FILE: providerKeyFile(folder, index) };
      return promisify(execFile)(process.execPath, [COMMAND, "announce", ...place, ...network], {
        ...{ cwd: ROOT, timeout: ANNOUNCE_MS, env },
      });
    }),
  );
}
