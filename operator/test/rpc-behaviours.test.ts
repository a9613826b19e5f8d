import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { type Address, keccak256, stringToHex } from "viem";
import { beforeAll, describe, type ExpectStatic, expect, test } from "vitest";
import { type Behaviour, sentenceOf } from "./rpc-behaviours/behaviour.js";
import { BEHAVIOURS } from "./rpc-behaviours/behaviours.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

// Each behaviour has an operator and proxies of its own, in front of one chain. While it lasts, the operator's clock
// stands still, so that a quarantine lasts as long.

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let counter = 0;
/** The keys of the accepted transactions, with their rounds. */
const accepted = new Map<string, number>();
/** Long enough for an endpoint that is well, on a busy machine. */
const RPC_TIMEOUT_MS = 4_000;
/** How an endpoint's state is checked: these calls do not show that it is used. */
const CHECKS = ["eth_chainId", "eth_getBlockByNumber"];

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(), startProviders(1)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
});

/** The dataset as a deployment file has it that lists the committee. */
const listed = (): DeployedDataset => ({
  ...{ name: "test", address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [spotPriceKey("ETH-USD")] },
  committee: { members: providers.map(({ address }) => address), toleranceBps: 100n },
});

const newBody = (broadcast = true) => ({ network_id: 42, dataset, key: `SPOTPX/B${counter++}-USD`, broadcast });

/** An operator whose endpoints can misbehave. */
class Setup {
  #stopped: number | null = null;

  private constructor(
    readonly proxies: readonly [RpcProxy, ...RpcProxy[]],
    readonly behaviour: Behaviour,
  ) {}

  static async start(behaviour: Behaviour): Promise<{ setup: Setup; operator: RunningOperator }> {
    const first = await startRpcProxy(chain.url);
    const others = behaviour.at === "the only one" ? [] : [await startRpcProxy(chain.url)];
    const setup = new Setup([first, ...others], behaviour);
    if (setup.isAboutStart) setup.begin();
    const rpcUrls = setup.proxies.map(({ url }) => url);
    const datasets = [behaviour.right === "it starts from a list" ? listed() : dataset];
    const served = { chain, datasets, providers, settings: { rpcTimeoutMs: RPC_TIMEOUT_MS }, rpcUrls };
    const operator = await startOperator([served], { plugins: [], clock: () => setup.#stopped ?? Date.now() });
    await operator.recovered;
    return { setup, operator };
  }

  get isAboutStart(): boolean {
    return String(this.behaviour.right).startsWith("it starts");
  }

  begin(): void {
    const { at, asked, answered, right } = this.behaviour;
    if (right !== "it is mined" && !this.isAboutStart) this.#stopped = Date.now();
    for (const proxy of at === "each of two" ? this.proxies : [this.proxies[0]]) {
      let nth = 0;
      proxy.script = (call) => (asked.matches(call) ? answered.reply(call, nth++) : null);
    }
  }

  end(): void {
    this.#stopped = null;
    for (const proxy of this.proxies) proxy.script = () => null;
  }

  async close(operator: RunningOperator): Promise<void> {
    await operator.close();
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}

async function ask(operator: RunningOperator, headers: Record<string, string> = {}): Promise<void> {
  const body = newBody();
  const { status, timestamp } = await operator.ask(body, headers);
  expect(status).toBe("OK");
  accepted.set(body.key, timestamp);
}

async function check(setup: Setup, operator: RunningOperator, expect: ExpectStatic): Promise<void> {
  const { asked, right } = setup.behaviour;
  const [first] = setup.proxies;
  const isResting = () => operator.log.some((line) => line.includes("rpcUrls/0") && line.includes("endpoint failed"));
  if (typeof right !== "string") {
    const { http, code, says = "" } = right;
    const requests = asked.name === "everything" ? [true, false] : [true];
    for (const problem of await Promise.all(requests.map((broadcast) => operator.askForProblem(newBody(broadcast))))) {
      expect([problem.http, problem.code]).toEqual([http, code]);
      expect(`${problem.title} ${problem.detail}`).toContain(says);
    }
    return;
  }
  if (right === "it starts late") {
    expect((await fetch(`${operator.base}/ready`)).status).toBe(503);
    const { http, code, headers } = await operator.askForProblem(newBody());
    expect([http, code, Number(headers.get("retry-after")) > 0]).toEqual([503, "not_ready", true]);
    return;
  }
  await ask(operator, right === "it is mined" ? { prefer: "wait=20" } : {});
  if (right === "the first rests") {
    await expect.poll(isResting).toBe(true);
    // Calls that have begun before it rested are over afterwards.
    await ask(operator);
  }
  first.calls.length = 0;
  await ask(operator);
  const used = first.calls.filter(({ method }) => !CHECKS.includes(method));
  const isAskedThis = used.some(asked.matches);
  if (right === "the first rests") expect(used).toEqual([]);
  else if (right === "the first is asked again") expect([isAskedThis, isResting()]).toEqual([true, false]);
  else if (right === "the first is not asked this again") {
    expect([isAskedThis, used.length > 0]).toEqual([false, true]);
    const health = await (await fetch(`${operator.base}/ready`)).text();
    expect(health).toMatch(/"endpoint":"rpcUrls\/0","ready":true,"without":\[[^\]]*"eth_/);
  } else if (right === "it starts") expect([used.length > 0, isResting()]).toEqual([true, false]);
}

describe.each(Object.entries(BEHAVIOURS))("%s", (_, behaviours) => {
  test.concurrent.for(behaviours.map((one) => [sentenceOf(one), one] as const))(
    "%s",
    async ([, behaviour], { expect }) => {
      const { setup, operator } = await Setup.start(behaviour);
      if (!setup.isAboutStart) setup.begin();
      await check(setup, operator, expect);
      setup.end();
      // An earlier check of an endpoint can still wait for an answer.
      await expect.poll(() => ask(operator).then(() => "answered", String)).toBe("answered");
      if (typeof behaviour.right === "object") {
        const sent = behaviour.right.isOpen ? 2 : 1;
        await expect.poll(() => chain.nonce(operator.account.address)).toBe(sent);
      }
      expect(operator.log.join("\n")).not.toContain('"stack"');
      await setup.close(operator);
    },
  );
});

test("every transaction that was accepted is mined exactly once", async () => {
  const rounds = async () => {
    const updates = await chain.updates(dataset);
    return [...accepted.keys()].map((key) => {
      const hash = keccak256(stringToHex(key));
      return [key, ...updates.filter(({ keyHash }) => keyHash === hash).map(({ timestamp }) => Number(timestamp))];
    });
  };
  await expect.poll(rounds).toEqual([...accepted]);
});
