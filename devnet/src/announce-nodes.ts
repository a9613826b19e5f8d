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
 * Announces the node of each provider that has one. Each announcement is sent by its node's submitter: if one account
 * sent them all at once, anvil could give two of them the same nonce.
 */
export async function announceNodes({ folder, chainUrl, operatorUrls }: DevnetContext): Promise<void> {
  const network = ["--deployment", folder.file("deployments", "42.json"), "--rpc-url", chainUrl];
  await Promise.all(
    operatorUrls.map((url, index) => {
      const submitter = SUBMITTERS[index];
      if (submitter === undefined) throw new Error(`There is no account for node ${index + 1}.`);
      const node = ["--url", url, "--submitter", submitter.address, "--from", submitter.address, "--allow-local"];
      const env = { ...process.env, PROVIDER_PRIVATE_KEY_FILE: providerKeyFile(folder, index) };
      return promisify(execFile)(process.execPath, [COMMAND, "announce", ...node, ...network], {
        ...{ cwd: ROOT, timeout: ANNOUNCE_MS, env },
      });
    }),
  );
}
