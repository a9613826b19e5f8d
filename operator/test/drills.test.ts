import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startOperator } from "@dataset-oracle/devnet/network-services";
import type { ServiceProcess } from "@dataset-oracle/devnet/service-process";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { keccak256, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { startCommittee } from "./support/committee.js";

/** The drills of an operator: what happens to it once in some years, and what its owner can count on then. */

const { chain, providers, dataset, body, start } = await startCommittee(4);

const storedRound = async (key: string) => Number((await chain.query(dataset, key)).updatedAt);

test("replace the operator's machine while transactions are pending: none is lost, and none is sent twice", async () => {
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  await chain.fund(account.address);
  const urls = providers.map(({ address, url }) => ({ address, url }));
  const network = { datasets: [dataset], networkId: 42, providers: urls, gasPercentPerCaller: 100 };
  const folder = mkdtempSync(join(tmpdir(), "machine-"));
  const own = (service: ServiceProcess) => onTestFinished(() => service.close());
  const place = { chainUrl: chain.url, folder, state: folder, own };
  const old = await startOperator(place, [{ address: account.address, privateKey }], { name: "operator" }, network);
  await chain.pauseMining();
  onTestFinished(() => chain.resumeMining());
  const broadcast = async (key: string): Promise<DataAnswer> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body(key)) };
    return (await (await fetch(`${old.url}/data/request`, init)).json()) as DataAnswer;
  };
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => broadcast(`SPOTPX/K${i}-USD`)));
  process.kill(old.pid, "SIGKILL");
  await old.exited;

  // It has the key, and nothing else of the old one.
  const next = await start({}, { account });
  answers.push(await next.ask(body("SPOTPX/LAST-USD")));
  expect(answers.map(({ transaction_hash }) => transaction_hash)).toEqual(
    answers.map(() => expect.stringMatching(/^0x/)),
  );
  await chain.resumeMining();
  for (const { key, timestamp } of answers) {
    await expect.poll(() => storedRound(key ?? "")).toBeGreaterThanOrEqual(timestamp);
  }
  expect(await chain.client.getTransactionCount({ address: account.address })).toBe(answers.length);
  const hashes = answers.map(({ key }) => keccak256(stringToHex(key ?? "")));
  const updated = (await chain.updates(dataset)).map(({ keyHash }) => keyHash);
  expect(updated.toSorted()).toEqual(hashes.toSorted());
  await next.close();
});
