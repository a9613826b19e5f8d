import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { Value } from "@sinclair/typebox/value";
import { parseUnits } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { SourceUse } from "../src/combined-value.js";
import { ProviderConfig } from "../src/config.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { decidePrice } from "../src/spot-price.js";
import { findRecordedAnswer, HOSTS, startTlsExchanges, type TlsExchanges } from "./support/tls-exchanges.js";

const REDIRECT_CONNECTIONS = fileURLToPath(new URL("support/redirect-connections.cjs", import.meta.url));
/** A first start compiles the contracts, on a machine that may be busy. */
const READY_MS = 240_000;

/** The prices of BTC-USD in the recorded answers. None can be converted from USDT, because no answer has its rate. */
const BTC_USD = loadSources([SHIPPED_SOURCES]).flatMap(({ name, queries }): SourceUse[] => {
  const query = queries.get("BTC-USD");
  const recorded = query?.rate === null ? findRecordedAnswer(query.request.url)?.prices["BTC-USD"] : undefined;
  if (recorded === undefined) return [];
  return [{ source: name, quote: { value: parseUnits(recorded, 18), quotedAt: null }, dropped: null }];
});

let exchanges: TlsExchanges;
let devnet: Awaited<ReturnType<typeof startLiveDevnet>>;
beforeAll(async () => {
  const authority = createCertificateAuthority();
  exchanges = await startTlsExchanges(authority.issue(HOSTS), true);
  devnet = await startLiveDevnet({
    NODE_OPTIONS: `--require=${REDIRECT_CONNECTIONS}`,
    NODE_EXTRA_CA_CERTS: authority.file,
    REDIRECT_PORT: String(exchanges.port),
    REDIRECT_HOSTS: HOSTS.join(","),
  });
}, READY_MS + 10_000);
afterAll(async () => {
  await devnet?.interrupt();
  await exchanges?.close();
});

/** Starts `npm start -- --live` on free ports, as a process. */
async function startLiveDevnet(env: Readonly<Record<string, string>>) {
  const [chain, operator, first] = [await freePort(), await freePort(), await freePort(4)];
  const ports = ["--chain-port", chain, "--operator-port", operator, "--provider-port", first].map(String);
  const args = [join(ROOT, "devnet/dist/main.js"), "--live", "--no-feeds", ...ports];
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const interrupt = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGINT");
    await once(child, "exit");
  };
  const end = Date.now() + READY_MS;
  while (!output.includes("The devnet is ready.")) {
    if (child.exitCode !== null || Date.now() > end) {
      await interrupt();
      throw new Error(`The devnet is not ready:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const addresses = JSON.parse(readFileSync(join(ROOT, ".devnet", String(chain), "devnet.json"), "utf8"));
  return { ...(addresses as { dataset: string; operator: { url: string }; providers: { url: string }[] }), interrupt };
}

/** The parts of answers that the tests look at. */
interface Answer {
  readonly status: string;
  readonly value: string;
  readonly reports: readonly unknown[];
  readonly sources: readonly { readonly name: string; readonly value: string | null }[];
}

async function post(url: string, body: object): Promise<{ status: number; body: Answer }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=20" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

it("npm start -- --live stores the exact price that the exchanges' recorded answers give over TLS", async () => {
  const { dataset, operator } = devnet;
  const request = { network_id: 42, dataset, key: "SPOTPX/BTC-USD", broadcast: true };
  const { status, body } = await post(`${operator.url}/data/request`, request);
  expect({ status, body }).toMatchObject({ status: 200, body: { status: "OK" } });
  const expected = decidePrice(BTC_USD, { policy: Value.Create(ProviderConfig), at: 0n });
  expect(expected).toMatchObject({ kind: "value", value: BigInt(body.value) });
  expect(body.reports).toHaveLength(4);
});

it("each of its providers asked all of the exchanges, under their own names", async () => {
  const asked = new Set(exchanges.requests.map((url) => new URL(url).host));
  expect([...asked].sort()).toEqual([...HOSTS].sort());
  for (const provider of devnet.providers) {
    const { body } = await post(`${provider.url}/report`, {
      network_id: 42,
      dataset: devnet.dataset,
      key: spotPriceKey("BTC-USD"),
      timestamp: Math.floor(Date.now() / 1_000),
    });
    const values = body.sources.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]));
    const expected = BTC_USD.map(({ source, quote }) => [source, String(quote?.value)] as const);
    expect(new Map(values)).toEqual(new Map(expected));
  }
});
