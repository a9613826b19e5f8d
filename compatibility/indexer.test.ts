import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { spotPriceKey } from "@dataset-oracle/protocol";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createClient, sql } from "@ponder/client";
import { keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePortOptions, startDevnet } from "../devnet/test/devnet-process.js";
import { postDataRequest } from "../devnet/test/post-data-request.js";
import { linkPackages } from "./linked-packages.js";
import { NEWER, nodeBinary, withNode } from "./nodes.js";

const cwd = join(mkdtempSync(join(tmpdir(), "indexer-")), "indexer");

let devnet: Devnet;
let indexer: ReturnType<typeof spawn>;
let output = "";
let url: string;
/** The rows that the indexer should have. */
const expected: object[] = [];

/** Has the devnet's operator store a value. */
async function update(pair: string): Promise<void> {
  const key = `SPOTPX/${pair}`;
  const request = { network_id: 42, dataset: devnet.dataset, key, broadcast: true };
  const { timestamp, status, value, transaction_hash: transaction } = (await postDataRequest(devnet, request)).answer;
  const keyHash = keccak256(spotPriceKey(pair));
  expected.push({ round: String(timestamp), status, value, transaction, keyHash, key: { text: key } });
}

const UPDATES = `query ($dataset: String!) {
  updates(where: { dataset: $dataset }, orderBy: "round", orderDirection: "asc") {
    items { round status value transaction keyHash key { text } }
  }
}`;

async function readUpdates(): Promise<unknown> {
  if (indexer.exitCode !== null) throw new Error(output);
  const body = JSON.stringify({ query: UPDATES, variables: { dataset: devnet.dataset.toLowerCase() } });
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body }).catch(() => null);
  if (response?.ok !== true) return null;
  return ((await response.json()) as { data: { updates: { items: unknown } } }).data.updates.items;
}

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  await update("ETH-USD");
  cpSync(join(ROOT, "examples/indexer"), cwd, { recursive: true });
  linkPackages(cwd);
  symlinkSync(join(ROOT, "node_modules/@dataset-oracle"), join(cwd, "node_modules/@dataset-oracle"));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const deployment = join(ROOT, ".devnet", new URL(devnet.chain).port, "deployments/42.json");
  const env = { ...withNode(NEWER), DEPLOYMENT: deployment, RPC_URL: devnet.chain, DO_NOT_TRACK: "1" };
  const ponder = join(cwd, "node_modules/ponder/dist/esm/bin/ponder.js");
  const args = ["start", "--schema", "dataset_oracle", "--hostname", "127.0.0.1", "--port", String(port)];
  indexer = spawn(nodeBinary(NEWER), [ponder, ...args], { cwd, env });
  for (const stream of [indexer.stdout, indexer.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
    });
  }
}, 200_000);

afterAll(async () => {
  if (indexer?.exitCode === null) {
    indexer.kill();
    await once(indexer, "exit");
  }
  await devnet?.interrupt();
});

test("has the types that Ponder gives it", async () => {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)("node", [tsc, "-p", cwd]).catch((error) => error);
  expect(stdout).toBe("");
});

test("serves the updates of a deployment by GraphQL: those before its start, and those since", async () => {
  await expect.poll(readUpdates, { timeout: 60_000 }).toEqual(expected);
  await update("BTC-USD");
  await expect.poll(readUpdates, { timeout: 60_000 }).toEqual(expected);
});

test("serves them by SQL", async () => {
  const { db } = createClient(`${url}/sql`);
  const rows = await db.execute(sql`select count(*) as updates, max(round) as newest from update where status = 'OK'`);
  expect(rows).toMatchObject([{ updates: 2, newest: expect.stringMatching(/^\d{10}$/) }]);
});
