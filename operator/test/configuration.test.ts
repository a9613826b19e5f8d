import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import { ConfigError, TransientError } from "@dataset-oracle/service/config/config-error";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { OTHER_ACCOUNT, OWNER, startChain } from "./support/chain.js";
import { prepareOperator } from "./support/prepare-operator.js";

/** What an operator makes of its configuration, up to its connection to the chain. main.test.ts runs the process. */

const NOBODY = "http://127.0.0.1:1";
const MEMBER = privateKeyToAccount(generatePrivateKey()).address;

const folder = mkdtempSync(join(tmpdir(), "operator-"));
const chain = await startChain();
const dataset = await chain.deploy([MEMBER]);
for (const chainId of [42, 43]) writeDeployment(chainId);

function writeDeployment(chainId: number, change: object = {}, name = String(chainId)): string {
  const financial = { address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: ["SPOTPX/ETH-USD"], ...change };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ chainId, datasets: { financial } }));
  return `${name}.json`;
}

function prepare(network: object, env: Record<string, string> = {}, others: object = {}) {
  const path = join(folder, "operator.json");
  writeFileSync(path, JSON.stringify({ networks: [{ rpcUrls: [chain.url], ...network }], ...others }));
  return prepareOperator(["--config", path], env);
}

/** Returns the message of the error with which the operator does not start. */
async function refusalOf(started: Promise<unknown>): Promise<string> {
  const error = await started.then(
    () => "accepted",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return String(error);
}

/** The configuration of most owners, with a deployment file. */
const usual = (change: object = {}) => ({
  ...{ deployment: "42.json", providers: [{ address: MEMBER, url: NOBODY }] },
  ...change,
});
const feed = (change: object) => ({
  ...{ dataset, keys: ["SPOTPX/ETH-USD"], heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 10 },
  ...change,
});

describe("is refused with", () => {
  test.each<[mistake: string, network: object, named: string, others?: object]>([
    ["a setting of another type", usual(), "/port", { port: "8080" }],
    ["an empty address to listen on, which would be every one", usual(), "/host: must not be empty", { host: "" }],
    ["an empty address of its metrics", usual(), "/metricsHost: must not be empty", { metricsHost: "" }],
    ["no network", usual(), "/networks", { networks: [] }],
    ["a deployment that is not there", usual({ deployment: "44.json" }), "44.json"],
    ["an RPC that is not a URL", usual({ rpcUrls: [NOBODY, "127.0.0.1"] }), "rpcUrls/1 is not a URL"],
    ["an RPC with an unset variable", usual({ rpcUrls: [["http://a/$", "{RPC_TOKEN}"].join("")] }), "RPC_TOKEN"],
    ["a network without an RPC", usual({ rpcUrls: [] }), "/networks/0/rpcUrls: must not be empty"],
    ["a provider with a wrong address", usual({ providers: [{ address: "0x1", url: "http://a" }] }), "0x1"],
    ["a provider without a URL", usual({ providers: [{ address: MEMBER, url: "a" }] }), "url"],
    ["a feed without keys", usual({ feeds: [feed({ keys: [] })] }), "feeds/0/keys: must not be empty"],
    ["no address as its dataset", { datasets: ["0x12"] }, "datasets/0: "],
    ["the same dataset twice", { datasets: [dataset, dataset] }, "datasets names 0x"],
    ["no dataset at all", {}, "set either deployment (a file's path) or datasets (addresses)"],
    ["both ways to name a dataset", usual({ datasets: [dataset] }), "set either deployment (a file's path)"],
  ])("%s", async (_, network, named, others) => {
    const error = await refusalOf(prepare(network, {}, others));
    expect(error).toContain(named);
  });
});

test("an RPC that does not answer, and no chain id, is not the owner's mistake: the start can be tried again", async () => {
  const error = await prepare({ datasets: [dataset], rpcUrls: [NOBODY] }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransientError);
  expect(String(error)).toContain("networks/0: the chain id cannot be read: rpcUrls/0: eth_chainId");
});

test("is accepted without an RPC that answers, if it names its network, and with an RPC's token from the environment", async () => {
  const rpcUrls = [NOBODY, ["https://a/$", "{RPC_TOKEN}"].join("")];
  const { plan } = await prepare({ datasets: [dataset], networkId: 42, rpcUrls }, { RPC_TOKEN: "abc" });
  expect(plan.networks).toMatchObject([{ chainId: 42, rpcUrls: [NOBODY, "https://a/abc"] }]);
});

test("the key of one network can be in a keystore made by cast, and a mistake about keys is named without them", async () => {
  const password = "a password of two words";
  execFileSync(foundryBinary("cast"), ["wallet", "new", folder, "keystore", "--unsafe-password", password]);
  const env = { OPERATOR_KEYSTORE_42: join(folder, "keystore"), OPERATOR_KEYSTORE_42_PASSWORD: password };
  const { senders } = await prepare(usual(), env);
  expect(senders.get(42)).toMatchObject({ accounts: { length: 1 } });
  expect(senders.get(42)?.warnings.join()).toContain("The file that OPERATOR_KEYSTORE_42 names can be read");
  const wrong = await refusalOf(prepare(usual(), { ...env, OPERATOR_KEYSTORE_42_PASSWORD: "another" }));
  expect(wrong).toContain("does not open with this password. Correct the password.");
  const key = generatePrivateKey();
  const invalid = await refusalOf(prepare(usual(), { OPERATOR_PRIVATE_KEY_42: `${key}00` }));
  expect(invalid).toContain("OPERATOR_PRIVATE_KEY_42");
  expect(invalid).not.toContain(key.slice(2, 20));
});

describe("the start fails", () => {
  const startFailure = (network: object) => refusalOf(prepare(network).then(({ connect }) => connect()));

  test("when an RPC is of another chain", async () => {
    expect(await startFailure(usual({ deployment: "43.json" }))).toContain(
      "network 43: rpcUrls/0 belongs to network 42. Correct it, or set deployment",
    );
    expect(await startFailure({ datasets: [dataset], networkId: 43 })).toContain("Correct rpcUrls or networkId.");
  });

  test("when an address is not a dataset", async () => {
    // Returns one byte of code, STOP.
    const hash = await chain.client.sendTransaction({ account: OWNER, data: "0x60015ff3", gas: 100_000n });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
    for (const [address, reason] of [
      [MEMBER, "is not a contract"],
      [getAddress(contractAddress ?? "0x"), "is another contract"],
    ] as const) {
      const problem = await startFailure(usual({ deployment: writeDeployment(42, { address }, "other") }));
      expect(problem).toContain(`dataset ${address}`);
      expect(problem).toContain(reason);
      expect(problem).toContain("Correct its address in the deployment file");
      expect(await startFailure({ datasets: [address] })).toContain(`dataset ${address} ${reason}`);
    }
  });

  test.each([
    ["kind", { kind: "majority" }, "is median, but the deployment file says majority. Correct the file."],
    ["keyForm", { keyForm: "WEB_ORACLE", keys: [] }, "is SPOT_PRICE, but the deployment file says WEB_ORACLE."],
  ])("when the deployment file has another %s than the dataset", async (name, change, difference) => {
    const problem = await startFailure(usual({ deployment: writeDeployment(42, change, "other") }));
    expect(problem).toContain(`network 42: the ${name} of dataset ${dataset} ${difference}`);
  });

  test("without providers on a chain without the directory, and the contracts' code decides their addresses", async () => {
    expect(await startFailure({ datasets: [dataset] })).toContain(
      "network 42: providers is empty, and there is no directory.",
    );
    // If one of these fails because the contract's code has changed, this is its new address.
    expect(await chain.deployAtFixedAddress("CommitteeDirectory")).toBe(COMMITTEE_DIRECTORY);
    expect(await chain.deployAtFixedAddress("WebOracleRegistry")).toBe(WEB_ORACLE_REGISTRY);
    expect(await startFailure({ datasets: [dataset], feeds: [feed({ keys: ["ETH-USD"] })] })).toContain(
      'feeds/0: key "ETH-USD" does not have this dataset\'s form',
    );
    expect(await startFailure({ datasets: [dataset], committeeDirectory: OTHER_ACCOUNT })).toContain(
      `${OTHER_ACCOUNT}, the committeeDirectory, is not a contract`,
    );
  });
});
