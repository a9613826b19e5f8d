import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { spotPriceKey } from "@dataset-oracle/protocol";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { Contract, type ContractRunner, JsonRpcProvider } from "ethers";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OTHER_ACCOUNT, startChain, type TestChain } from "../operator/test/support/chain.js";
import { startOperator } from "../operator/test/support/operator.js";
import { signedUpdate } from "../operator/test/support/signed-update.js";
import { type StubProvider, startProviders } from "../operator/test/support/stub-providers.js";

const KEY = spotPriceKey("ETH-USD");
const MAX_AGE = 20;

let chain: TestChain;
let providers: StubProvider[];
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
  honest = `${operator.base}/gateway/42/{sender}/{data}`;
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

  // After a 429, it asks the same one for minutes, so the operator's gateway answers 503 when a limit is exceeded.
  test("goes on after a gateway that is dead, and one that fails, to one that takes a POST", async () => {
    answer = (response) => response.writeHead(500).end();
    expect(await read([dead, scripted, honest.replace("/{sender}/{data}", "")])).toEqual([median(), "OK"]);
  });

  test("takes no value from a gateway that answers an update of another key", async () => {
    const { timestamp } = await chain.client.getBlock();
    const data = await signedUpdate(dataset, spotPriceKey("BTC-USD"), timestamp, providers);
    answer = (response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
    await expect(read([scripted])).rejects.toThrow();
  });

  test("gets the error of a read that names a sender", async () => {
    await expect(read([honest], await ethers.getSigner(OTHER_ACCOUNT))).rejects.toThrow("CallNamesSender");
  });
});
