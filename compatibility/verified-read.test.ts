import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { spotPriceKey } from "@dataset-oracle/protocol";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { Contract, type ContractRunner, JsonRpcProvider } from "ethers";
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "../operator/test/support/chain.js";
import { startOperator } from "../operator/test/support/operator.js";
import { signedUpdate } from "../operator/test/support/signed-update.js";
import { type Provider, startProviders } from "../operator/test/support/stub-providers.js";

const KEY = spotPriceKey("ETH-USD");
const MAX_AGE = 20;

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let ethers: JsonRpcProvider;
/** The URLs of the operator's gateway, of one that answers as a test says, and of one at which nobody listens. */
let honest: string;
let scripted: string;
let dead: string;
let answer: (response: ServerResponse) => void;

const gateway = createServer((_, response) => answer(response));
const median = () => providers[1]?.value;

async function listen(server = createServer()): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/{sender}/{data}`;
}

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  const operator = await startOperator([{ chain, datasets: [dataset], providers }]);
  honest = `${operator.base}/data/gateway/42/{sender}/{data}`;
  scripted = await listen(gateway);
  const unused = createServer();
  dead = await listen(unused);
  unused.close();
  ethers = new JsonRpcProvider(chain.url, 42, { staticNetwork: true, cacheTimeout: -1 });
});
afterAll(() => {
  ethers?.destroy();
  gateway.close();
});

/** Reads with ethers' own ERC-3668 support and none of this project's code. */
async function read(gateways: readonly string[], runner: ContractRunner = ethers) {
  const lens = await chain.deployContract("VerifiedLens", verifiedLensAbi, [gateways]);
  const contract = new Contract(lens, verifiedLensAbi as never, runner);
  const [value, , status] = await contract.getFunction("read")(dataset, KEY, MAX_AGE, { enableCcipRead: true });
  return [BigInt(value), QUERY_STATUSES[Number(status)]];
}

describe("ethers", () => {
  test("reads a current value, with no transaction, no payment and nothing stored", async () => {
    expect(await read([honest])).toEqual([median(), "OK"]);
    expect(await chain.updates(dataset)).toEqual([]);
  });

  test("reads through a gateway that takes a POST", async () => {
    expect(await read([honest.replace("/{sender}/{data}", "")])).toEqual([median(), "OK"]);
  });

  test("goes on to the next gateway after one that is dead, and after one that fails", async () => {
    answer = (response) => response.writeHead(500).end();
    expect(await read([dead, scripted, honest])).toEqual([median(), "OK"]);
  });

  // After a 429, it asks the same one for minutes, so the operator's gateway answers 503 when a limit is exceeded.
  test.each([400, 404])("gives up after an answer of %i", async (status) => {
    answer = (response) => response.writeHead(status).end(JSON.stringify({ message: "No." }));
    await expect(read([scripted, honest])).rejects.toThrow("No.");
  });

  test.each<[string, (round: bigint) => Promise<Hex>]>([
    [
      "an update of another key",
      async (round) => (await signedUpdate(dataset, spotPriceKey("BTC-USD"), round, providers)).data,
    ],
    ["garbage", async () => "0xdeadbeef"],
  ])("takes no value from a gateway that answers %s", async (_, lie) => {
    const data = await lie((await chain.client.getBlock()).timestamp);
    answer = (response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
    await expect(read([scripted])).rejects.toThrow();
  });

  test("gets the error of a read that names a sender", async () => {
    await expect(read([honest], await ethers.getSigner(OTHER_ACCOUNT))).rejects.toThrow("CallNamesSender");
  });
});
