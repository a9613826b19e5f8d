import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { isFree } from "@dataset-oracle/devnet/free-ports";
import { respondsOk, startProcess } from "@dataset-oracle/devnet/start-process";
import { clientOf } from "@dataset-oracle/devnet/test-support/chain-client";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { DEVNET } from "../../docs/site/devnet-addresses.js";
import { chainOf, family, freePortOptions, isRunning, NPM_START, START_MS, startDevnet } from "./devnet-process.js";
import { dappClientTests } from "./on-one-devnet/dapp-client.js";
import { documentTests } from "./on-one-devnet/documents.js";
import { printedCommandTests } from "./on-one-devnet/printed-commands.js";
import { OWN_ORIGIN, webOracleTests } from "./on-one-devnet/web-oracle.js";
import type { OneDevnet } from "./one-devnet.js";

/*
 * Everything that needs a whole devnet and no feeds: one is started, and used by one group of tests after the other. The
 * last ones end a part of it, and then all.
 */

let one: OneDevnet;

/** A web API of a developer, on this machine. */
const api = createServer((_, response) => {
  response.end('{"list":[{"id":6,"at":"1"},{"id":7,"at":"2026-01-31T13:00:00+01:00"}]}');
});

beforeAll(async () => {
  await once(api.listen(0, "127.0.0.1"), "listening");
  const redirect = `${OWN_ORIGIN}=http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const options = [...(await freePortOptions()), "--no-feeds", "--redirect", redirect];
  const devnet = await startDevnet(options, NPM_START);
  one = { devnet, chain: clientOf(devnet.chain) };
}, START_MS);

afterAll(async () => {
  await one?.devnet.interrupt();
  api.close();
});

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.log(one.devnet.output()));
});

test("contracts and providers have the addresses that documents and examples name", async () => {
  const { dataset, consumer, lens, webOracle, providers } = one.devnet;
  const { CONSUMER, DATASET, LENS } = await import(join(ROOT, "examples/javascript/devnet-addresses.js"));
  expect({ DATASET, CONSUMER, LENS }).toEqual({ DATASET: dataset, CONSUMER: consumer, LENS: lens });
  const datasets = { financial: dataset, webOracleNumber: webOracle.numbers, webOracleBytes: webOracle.words };
  expect(DEVNET).toMatchObject({ lens, datasets });
  expect(providers.map(({ address }) => address)).toContain(DEVNET.provider);
  for (const [name, address] of Object.entries({ number: webOracle.numbers, bytes: webOracle.words })) {
    const page = readFileSync(join(ROOT, `docs/datasets/web-oracle-${name}.md`), "utf8");
    expect(page).toContain(`| devnet (id 42) | \`${address}\` |`);
    for (const { key, dataset } of webOracle.examples) {
      if (dataset === address) expect(page).toContain(`| \`${key.slice(0, "WEB/".length + 64)}/<`);
    }
  }
});

test.skipIf(existsSync(join(ROOT, "docs/dist/index.html")))("the summary says how to serve the guide", () => {
  const { output, operator } = one.devnet;
  expect(output()).toContain(`the documentation: run "npm run docs" and "kill ${operator.pid}", then the command that`);
});

describe("the client that dapps install", () => dappClientTests(() => one));

describe("the Web Oracle", () => webOracleTests(() => one));

describe("the commands that are printed", () => printedCommandTests(() => one));

describe("the documents", () => documentTests(() => one));

test("the command that is printed when a service has ended starts it again", async () => {
  const { output, providers } = one.devnet;
  const { pid, url, command } = providers[1] ?? expect.fail("There is one provider.");
  process.kill(pid, "SIGKILL");
  await expect.poll(output).toContain(`:\n  ${command}\n`);
  const again = { name: url, command: "sh", args: ["-c", `exec env ${command}`], cwd: ROOT };
  const provider = await startProcess({ ...again, isReady: () => respondsOk(`${url}/ready`) });
  onTestFinished(() => provider.close());
  await provider.ready();
});

test.runIf(process.platform === "linux")(
  "a SIGTERM for npm ends all, although the chain does not respond",
  async () => {
    const { process: npm, chain, market, operators, providers } = one.devnet;
    const members = family(npm.pid as number);
    const [chainPid = 0] = chainOf(members);
    process.kill(chainPid, "SIGSTOP");
    npm.kill("SIGTERM");
    const running = () => members.filter(({ pid }) => isRunning(pid));
    // npm, the devnet, the chain, the market, three providers and the operator, at least.
    expect(members.length).toBeGreaterThanOrEqual(8);
    await expect.poll(running).toEqual([]);
    const urls = [chain, market, ...[...operators, ...providers].map(({ url }) => url)];
    for (const url of urls) expect(await isFree(Number(new URL(url).port)), url).toBe(true);
  },
);
