import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import Fastify from "fastify";
import { encodeFunctionData, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";
import { startRpcProxy } from "./support/rpc-proxy.js";
import { spawnOperator } from "./support/spawn-operator.js";

/** Operators that are told to stop while what they wait for does not come. */

const { chain, providers, dataset, body } = await startCommittee(4);

/**
 * Loaded before the program. Where it would end the process, the process now ends by itself, once nothing keeps it alive.
 */
const ENDS_BY_ITSELF = `process.exit = (code) => {
  process.exitCode = code;
  const report = () => console.log("still open: " + process.getActiveResourcesInfo());
  setTimeout(report, 1_000).unref();
};`;

/** Starts an endpoint that answers only what a signer is asked at the start, and counts the rest. */
async function startHangingSigner(address: string) {
  const server = Fastify({ forceCloseConnections: true });
  let asked = 0;
  server.post("/", async (request) => {
    const { id, method } = request.body as { id: number; method: string };
    if (method === "eth_accounts") return { jsonrpc: "2.0", id, result: [address] };
    asked++;
    return new Promise(() => {});
  });
  closeAtEnd(() => server.close());
  return { url: await server.listen({ host: "127.0.0.1", port: 0 }), asked: () => asked };
}

/** Starts an operator with all plugins, and an account that has Ether. Every call may take a minute. */
async function startProcess(hasSigner = false) {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await chain.fund(address);
  const [rpc, signer, port] = await Promise.all([startRpcProxy(chain.url), startHangingSigner(address), freePort()]);
  const policy = { heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 1 };
  const network = {
    ...{ rpcUrls: [rpc.url], networkId: 42, datasets: [dataset], rpcTimeoutMs: 60_000, providerTimeoutMs: 60_000 },
    providers: providers.map((provider) => ({ address: provider.address, url: provider.url })),
    feeds: [{ dataset, keys: ["SPOTPX/FEED-USD", "SPOTPX/OTHER-USD"], ...policy }],
  };
  const config = join(mkdtempSync(join(tmpdir(), "operator-")), "operator.json");
  writeFileSync(config, JSON.stringify({ port, metricsPort: 0, networks: [network] }));
  const { child, exited, output } = spawnOperator(["--config", config], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(ENDS_BY_ITSELF)}`,
    ...(hasSigner
      ? { OPERATOR_SIGNER_URL: signer.url, OPERATOR_SIGNER_ADDRESS: address }
      : { OPERATOR_PRIVATE_KEY: key }),
  });
  const base = `http://127.0.0.1:${port}`;
  const isReady = () => fetch(`${base}/ready`).then(({ ok }) => ok, output);
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true);

  const post = (what: object, headers: Record<string, string> = {}) =>
    fetch(`${base}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(what),
    });
  /** Makes a request of each kind that can have to wait. */
  const ask = () => {
    const args = [dataset, stringToHex("SPOTPX/LENS-USD")] as const;
    const lookup = encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args });
    const point = `network_id=42&dataset=${dataset}&key=SPOTPX/ETH-USD`;
    const asked = [
      post(body("SPOTPX/SENT-USD")),
      post(body("SPOTPX/WAIT-USD"), WAIT),
      post(body("SPOTPX/STREAM-USD"), { accept: "text/event-stream" }),
      post(body("SPOTPX/UNSENT-USD", false)),
      ...["overview", `data?${point}`, `history?${point}`, `gateway/42/${dataset}/${lookup}`].map((path) =>
        fetch(`${base}/${path}`),
      ),
    ];
    return Promise.all(asked.map(async (one) => ({ status: (await one).status, text: await (await one).text() })));
  };
  const stop = async () => {
    // On a connection of its own, so that what was sent before has arrived when this is answered.
    const [live] = (await once(get(`${base}/live`, { agent: false }), "response")) as [IncomingMessage];
    live.resume();
    child.kill("SIGTERM");
    return exited;
  };
  return { rpc, signer, ask, stop, output };
}

/** Finds the code of the problem that ends a stream of events; null in any other answer. */
const problemIn = (text: string) => /event: problem\ndata: .*"code":"(\w+)"/.exec(text)?.[1] ?? null;

/** Returns what is true once it has come about. */
type ShutdownSituation = (operator: Awaited<ReturnType<typeof startProcess>>) => Promise<() => boolean>;

const SITUATIONS: readonly [string, ShutdownSituation][] = [
  [
    "its RPC endpoint hangs",
    async ({ rpc }) => {
      let held = 0;
      rpc.script = () => {
        held++;
        return { connection: "stays silent" };
      };
      return () => held > 4;
    },
  ],
  [
    "data providers hang",
    async () => {
      for (const provider of providers) {
        provider.behavior = "hangs";
        provider.asked.splice(0);
      }
      return () => (providers[0]?.asked.length ?? 0) > 4;
    },
  ],
  [
    "its signer hangs",
    async ({ signer }) =>
      () =>
        signer.asked() > 0,
  ],
  [
    "transactions wait to be mined",
    async ({ output }) => {
      await chain.pauseMining();
      const isSent = (name: string) => output().includes(`"key":"${stringToHex(`SPOTPX/${name}-USD`)}"`);
      return () => ["SENT", "WAIT", "STREAM"].every(isSent);
    },
  ],
];

test.each(SITUATIONS)(
  "an operator that is stopped while %s answers every request, and ends by itself",
  async (name, begin) => {
    const operator = await startProcess(name === "its signer hangs");
    try {
      const isThere = await begin(operator);
      const answers = operator.ask();
      await expect.poll(isThere, { timeout: 60_000 }).toBe(true);
      // A shutdown that takes longer than its ten seconds ends with another code.
      expect(await operator.stop()).toBe(0);
      const problems = (await answers).map(({ status, text }) =>
        status === 200 ? problemIn(text) : JSON.parse(text).code,
      );
      // What was sent is answered with its hash.
      const ofBroadcasts = name === "transactions wait to be mined" ? null : "shutting_down";
      expect(problems.slice(0, 3)).toEqual([ofBroadcasts, ofBroadcasts, ofBroadcasts]);
      expect(problems.filter((code) => code !== null && code !== "shutting_down")).toEqual([]);
      const log = operator.output().split('"msg":"shutting down"')[1] ?? "";
      expect(log).not.toContain("still open");
      // Nothing is blamed for what the shutdown has ended.
      const warnings = log.split("\n").filter((line) => /"level":[4-6]0/.test(line));
      expect(warnings.filter((line) => !line.includes("shutting_down"))).toEqual([]);
    } finally {
      for (const provider of providers) provider.behavior = "honest";
      await chain.resumeMining();
    }
  },
);
