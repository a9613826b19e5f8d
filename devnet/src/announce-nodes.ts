import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { OWNER, PROVIDERS, SUBMITTERS } from "./accounts.js";
import type { DevnetContext } from "./devnet-context.js";
import { providerKeyFile } from "./start-services.js";

const COMMAND = join(ROOT, "provider", "dist", "main.js");
const ANNOUNCE_MS = 60_000;

/** Announces the node of each provider that has one, as its owner would. */
export async function announceNodes({ folder, chainUrl, operatorUrls }: DevnetContext): Promise<void> {
  const network = [
    "--deployment",
    folder.file("deployments", "42.json"),
    "--rpc-url",
    chainUrl,
    "--from",
    OWNER.address,
  ];
  await Promise.all(
    operatorUrls.map((url, index) => {
      const node = ["--url", url, "--submitter", SUBMITTERS[index]?.address ?? ""];
      const provider = PROVIDERS[index];
      if (provider === undefined) throw new Error(`There is no provider for node ${index + 1}.`);
      const env = { ...process.env, PROVIDER_PRIVATE_KEY_FILE: providerKeyFile(folder, index) };
      return promisify(execFile)(process.execPath, [COMMAND, "announce", ...node, ...network], {
        ...{ cwd: ROOT, timeout: ANNOUNCE_MS, env },
      });
    }),
  );
}
