// Writes the deployment file of a network after forge has run a script. In the script itself, which forge simulates,
// nothing is mined yet: it writes down what it intends to list, and here that is listed which exists.

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Where no contract has to exist for what is listed. */
const NO_CONTRACT = "0x0000000000000000000000000000000000000000";

const REQUEST_MS = 30_000;
const POLL_MS = 500;
/** A transaction of an earlier run that takes longer was perhaps sent with too low a fee. */
const MINED_MS = 120_000;

/**
 * @typedef {{ path: string, value: unknown, created: string }} Entry
 * @typedef {import("./deployment-file.js").DeploymentFolders} Folders
 */

/** @type {typeof import("./deployment-file.js").finishDeploymentFile} */
export async function finishDeploymentFile(folders, run) {
  const rpc = jsonRpc(folders.rpcUrl);
  const chainId = Number(await rpc("eth_chainId"));
  const intended = join(folders.deployments, `${chainId}.intended.json`);
  if (!existsSync(intended)) return undefined;
  const { sender, entries } = readIntended(intended);
  let isMined = run === "succeeded" || (await hasAllMined(rpc, sender, run === "earlier" ? MINED_MS : 0));
  /** @type {Entry[]} */
  const listed = [];
  for (const entry of entries) {
    if (entry.created === NO_CONTRACT) {
      // A script that is run again intends it again.
      if (run === "succeeded") listed.push(entry);
      continue;
    }
    const hash = findCreation(folders.broadcast, chainId, entry.created);
    // Also what forge sent and did not record, and what replaced it: the address is that of the account and its nonce.
    if ((await rpc("eth_getCode", [entry.created, "latest"])) !== "0x") listed.push(entry);
    else if (hash !== undefined && (await isInPool(rpc, hash))) isMined = false;
    else if (run === "succeeded") throw new Error(`forge succeeded, but there is no contract at ${entry.created}.`);
  }
  const path = join(folders.deployments, `${chainId}.json`);
  if (listed.length > 0) write(path, chainId, listed);
  if (isMined) rmSync(intended);
  else
    throw new Error(
      `A transaction of ${sender} is not mined yet. Wait, or replace it from the same account, then run the same command again.`,
    );
  return listed.length > 0 ? path : undefined;
}

/**
 * @param {string} path
 * @returns {{ sender: string, entries: Entry[] }}
 */
function readIntended(path) {
  /** @type {{ sender: string, paths: string[], values: string[], created: string[] }} */
  const { sender, paths, values, created } = JSON.parse(readFileSync(path, "utf8"));
  const entries = paths.map((entry, i) => ({
    path: entry,
    value: JSON.parse(/** @type {string} */ (values[i])),
    created: /** @type {string} */ (created[i]),
  }));
  return { sender, entries };
}

/**
 * Waits until no transaction of an account is in the pool. forge may have been killed after it sent one and before it
 * recorded it.
 *
 * @param {ReturnType<typeof jsonRpc>} rpc
 * @param {string} sender
 * @param {number} milliseconds How long to wait.
 * @returns {Promise<boolean>} Whether all are mined.
 */
async function hasAllMined(rpc, sender, milliseconds) {
  for (const end = Date.now() + milliseconds; ; await sleep(POLL_MS)) {
    const sent = await rpc("eth_getTransactionCount", [sender, "pending"]);
    if (Number(await rpc("eth_getTransactionCount", [sender, "latest"])) >= Number(sent)) return true;
    if (Date.now() >= end) return false;
  }
}

/**
 * Returns the hash of the transaction that creates a contract, from the latest record of each script.
 *
 * @param {string} folder
 * @param {number} chainId
 * @param {string} created
 * @returns {string | undefined}
 */
function findCreation(folder, chainId, created) {
  const isCreated = (/** @type {string | null} */ address) => address?.toLowerCase() === created.toLowerCase();
  for (const script of existsSync(folder) ? readdirSync(folder) : []) {
    const records = join(folder, script, String(chainId));
    for (const name of existsSync(records) ? readdirSync(records) : []) {
      if (!name.endsWith("-latest.json")) continue;
      for (const { hash, contractAddress, additionalContracts } of readTransactions(join(records, name))) {
        // What the deterministic deployment proxy creates is an additional contract of its transaction.
        const addresses = [contractAddress, ...additionalContracts.map(({ address }) => address)];
        if (hash !== null && addresses.some(isCreated)) return hash;
      }
    }
  }
  return undefined;
}

/**
 * Returns the transactions of forge's record. forge does not write it atomically: half of it has none.
 *
 * @param {string} path
 * @returns {{ hash: string | null, contractAddress: string | null, additionalContracts: { address: string }[] }[]}
 */
function readTransactions(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).transactions;
  } catch {
    return [];
  }
}

/**
 * @param {ReturnType<typeof jsonRpc>} rpc
 * @param {string} hash
 */
async function isInPool(rpc, hash) {
  if ((await rpc("eth_getTransactionReceipt", [hash])) !== null) return false;
  return (await rpc("eth_getTransactionByHash", [hash])) !== null;
}

/**
 * @param {string} path
 * @param {number} chainId
 * @param {readonly Entry[]} entries
 */
function write(path, chainId, entries) {
  const file = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { chainId, datasets: {} };
  for (const entry of entries) {
    const names = entry.path.split(".").slice(1);
    const last = /** @type {string} */ (names.pop());
    names.reduce((object, name) => object[name], file)[last] = entry.value;
  }
  // An operator that reads it meanwhile gets the old one.
  writeFileSync(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** @param {string} url */
function jsonRpc(url) {
  return async (/** @type {string} */ method, /** @type {unknown[]} */ params = []) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const { result, error } = /** @type {any} */ (await response.json());
    if (error) throw new Error(`The RPC refuses ${method}: ${error.message}`);
    return result;
  };
}
