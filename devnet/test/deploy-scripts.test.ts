import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, getContractAddress, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { OWNER, type ScriptRunner, startScriptRunner } from "./script-runner.js";
import { DATASETS, type Settings, settingsOf } from "./script-settings.js";

const run = promisify(execFile);

const MEMBERS = ["0x0000000000000000000000000000000000000011", "0x0000000000000000000000000000000000000022"];

/** Settings as a team would fill the committed example in. */
function filledIn(chainId: number): Settings {
  const settings = settingsOf(chainId);
  for (const name of DATASETS) Object.assign(settings[name], { owner: OWNER, members: [...MEMBERS] });
  return settings;
}

let scripts: ScriptRunner;

describe.each([42, 11_155_111])("on network %i", (chainId) => {
  beforeAll(async () => {
    scripts = await startScriptRunner(chainId);
    scripts.configure(filledIn(chainId));
  });
  afterAll(() => scripts.close());

  /** Returns the code of every contract creation so far. */
  async function creationCodes(): Promise<string[]> {
    const last = Number(await scripts.client.getBlockNumber());
    const blocks = await Promise.all(
      Array.from({ length: last + 1 }, (_, number) =>
        scripts.client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }),
      ),
    );
    return blocks.flatMap(({ transactions }) => transactions.filter(({ to }) => !to).map(({ input }) => input));
  }

  /** Asserts that a dataset on chain matches its settings. */
  async function expectAsSet(name: (typeof DATASETS)[number]): Promise<void> {
    const settings = filledIn(chainId)[name];
    const { client } = scripts;
    const dataset = scripts.deployment().datasets.find((one) => one.name === name);
    expect(dataset?.keys).toEqual(settings.keys.map((key) => stringToHex(key)));
    const address = dataset?.address as Address;
    const read = (
      functionName:
        | "owner"
        | "queryPrice"
        | "priceCeiling"
        | "costOfSubscription"
        | "maxRoundAge"
        | "committeeBlock"
        | "keyForm",
    ) => client.readContract({ address, abi: datasetAbi, functionName });
    expect(await read("owner")).toBe(OWNER);
    expect(await read("keyForm")).toBe(dataset?.keyForm === "SPOT_PRICE" ? 0 : 1);
    expect(await read("queryPrice")).toBe(BigInt(settings.queryPrice));
    expect(await read("priceCeiling")).toBe(BigInt(settings.priceCeiling));
    expect(await read("costOfSubscription")).toEqual([
      BigInt(settings.subscriptionPrice),
      30n * 86_400n,
      BigInt(settings.subscriptionPriceCeiling),
    ]);
    expect(await read("maxRoundAge")).toBe(BigInt(settings.maxRoundAge));
    const fromBlock = (await read("committeeBlock")) as bigint;
    const [change] = await client.getContractEvents({
      address,
      abi: datasetAbi,
      eventName: "CommitteeChanged",
      fromBlock,
    });
    expect(change?.args).toEqual({ members: MEMBERS, toleranceBps: BigInt(settings.toleranceBps) });
    expect(dataset?.committee).toEqual(change?.args);
  }

  test.each(["DeployFinancialDataset", "DeployWebOracle"])("%s as a dry run sends and writes nothing", async (name) => {
    const { exitCode, output, sent } = await scripts.run(name);
    expect(output).toContain("This was a dry run: nothing was sent or written.");
    expect([exitCode, sent, existsSync(scripts.deploymentFile)]).toEqual([0, 0, false]);
  });

  test("a dry run shows every setting, those that are fixed for ever apart, and numbers as they were read", async () => {
    const settings = filledIn(chainId);
    scripts.configure({ ...settings, financial: { ...settings.financial, priceCeiling: "0.01 ether" } });
    const { output } = await scripts.run("DeployFinancialDataset");
    scripts.configure(settings);
    const lines = output.split("\n").map((line) => line.trim());
    const first = lines.indexOf("Settings of financial, fixed for ever:");
    expect(lines.slice(first, first + 12)).toEqual([
      "Settings of financial, fixed for ever:",
      "key form SPOT_PRICE",
      "maxRoundAge 300 seconds",
      "priceCeiling 10000000000000000 wei",
      "subscriptionPriceCeiling 1000000000000000000 wei",
      "Settings of financial that its owner can change:",
      `owner ${OWNER}`,
      ...MEMBERS.map((member) => `member ${member}`),
      "toleranceBps 100",
      "queryPrice 1000000000000000 wei",
      "subscriptionPrice 100000000000000000 wei",
    ]);
  });

  test("a bad setting of one contract deploys none, and writes nothing", async () => {
    const settings = filledIn(chainId);
    settings.webOracleBytes.members.reverse();
    scripts.configure(settings);
    const { exitCode, output, sent } = await scripts.run("DeployWebOracle", ["--broadcast"]);
    scripts.configure(filledIn(chainId));
    expect(output).toContain(`settings.json: webOracleBytes.members has ${MEMBERS[0]} after ${MEMBERS[1]}. Sort them`);
    expect(exitCode).not.toBe(0);
    expect([sent, existsSync(scripts.deploymentFile)]).toEqual([0, false]);
  });

  test("deploys the financial dataset of its settings, and writes the file that operators and providers read", async () => {
    expect(await scripts.run("DeployFinancialDataset", ["--broadcast"])).toMatchObject({ exitCode: 0, sent: 1 });
    expect(scripts.deployment()).toMatchObject({
      chainId,
      datasets: [{ name: "financial", kind: "median", keyForm: "SPOT_PRICE" }],
    });
    await expectAsSet("financial");
  });

  test("deploys the two Web Oracle datasets and their registry, and adds them to the file", async () => {
    const [financial] = scripts.deployment().datasets;
    expect(await scripts.run("DeployWebOracle", ["--broadcast"])).toMatchObject({ exitCode: 0, sent: 3 });
    const { datasets, webOracleRegistry } = scripts.deployment();
    const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]));
    expect(byName.size).toBe(3);
    expect(byName.get("financial")).toEqual(financial);
    expect(byName.get("webOracleNumber")).toMatchObject({ kind: "median", keyForm: "WEB_ORACLE" });
    expect(byName.get("webOracleBytes")).toMatchObject({ kind: "majority", keyForm: "WEB_ORACLE" });
    for (const name of DATASETS) await expectAsSet(name);
    const created = await creationCodes();
    for (const name of ["MedianDataset", "MajorityDataset"]) {
      const { bytecode } = JSON.parse(readFileSync(join(ROOT, `out/${name}.sol/${name}.json`), "utf8"));
      expect(created.some((code) => code.startsWith(bytecode.object))).toBe(true);
    }
    expect(webOracleRegistry).toBe(WEB_ORACLE_REGISTRY);
    expect(await scripts.client.getCode({ address: WEB_ORACLE_REGISTRY })).toMatch(/^0x[0-9a-f]{100,}$/);
  });

  test("deploys both datasets again if the transactions of an earlier run were not mined", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    const { datasets, ...others } = JSON.parse(before);
    const nonce = await scripts.client.getTransactionCount({ address: OWNER });
    // The earlier run expected to create its second contract with the nonce that this one uses for its first.
    const addressAt = (at: number) => getContractAddress({ from: OWNER, nonce: BigInt(at) });
    datasets.webOracleNumber.address = addressAt(nonce + 100);
    datasets.webOracleBytes.address = addressAt(nonce);
    writeFileSync(scripts.deploymentFile, JSON.stringify({ ...others, datasets }));
    expect(await scripts.run("DeployWebOracle", ["--broadcast"])).toMatchObject({ exitCode: 0, sent: 2 });
    for (const name of DATASETS) await expectAsSet(name);
    const addresses = scripts.deployment().datasets.map(({ address }) => address);
    expect(new Set(addresses).size).toBe(3);
    writeFileSync(scripts.deploymentFile, before);
  });

  test("deploys the lens of its gateways once, and no other in its place", async () => {
    const [get, post] = ["https://one.example/data/gateway/1/{sender}/{data}", "https://two.example/data/gateway/1"];
    const env = { GATEWAYS: `${get},${post}` };
    const none = await scripts.run("DeployVerifiedLens", ["--broadcast"]);
    expect(none.lastLine).toContain("GATEWAYS is not set. Set it to the URLs of the operators' gateways, separated by");
    const first = await scripts.run("DeployVerifiedLens", ["--broadcast"], env);
    expect([first.exitCode, first.sent]).toEqual([0, 1]);
    expect(first.output).toContain(`all fixed for ever:\n    gateway ${get}\n    gateway ${post}\n`);
    const address = scripts.deployment().verifiedLens as Address;
    expect(await scripts.client.readContract({ address, abi: verifiedLensAbi, functionName: "gateways" })).toEqual([
      get,
      post,
    ]);
    const other = await scripts.run("DeployVerifiedLens", ["--broadcast"], { GATEWAYS: post });
    expect(other.output).toContain("verifiedLens has other gateways. Remove it to deploy one with those of GATEWAYS.");
    expect([other.exitCode, other.sent]).toEqual([1, 0]);
    const again = await scripts.run("DeployVerifiedLens", ["--broadcast"], env);
    expect(again.output).toContain("verifiedLens exists already, so nothing was deployed: 0x");
    expect([again.exitCode, again.sent]).toEqual([0, 0]);
  });

  test("deploys the directory of the providers' URLs once", async () => {
    expect(await scripts.run("DeployCommitteeDirectory", ["--broadcast"])).toMatchObject({ exitCode: 0, sent: 1 });
    expect(scripts.deployment().committeeDirectory).toBe(COMMITTEE_DIRECTORY);
    const announced = {
      address: COMMITTEE_DIRECTORY,
      abi: committeeDirectoryAbi,
      functionName: "announcementOf",
      args: [OWNER],
    } as const;
    expect(await scripts.client.readContract(announced)).toEqual(["", 0n]);
  });

  test.each(["provider", "operator"])(
    "the %s accepts a configuration that names the deployment file",
    async (service) => {
      const key = `0x${"11".repeat(32)}`;
      const configs: Record<string, object> = {
        provider: { deployments: [scripts.deploymentFile], lease: "lease" },
        operator: {
          networks: [
            {
              deployment: scripts.deploymentFile,
              rpcUrls: ["http://127.0.0.1:1"],
              providers: [{ address: MEMBERS[0], url: "http://127.0.0.1:2" }],
            },
          ],
        },
      };
      const config = join(dirname(scripts.deploymentFile), `${service}.json`);
      writeFileSync(config, JSON.stringify(configs[service]));
      const main = join(ROOT, service, "dist", "main.js");
      const env = { PROVIDER_PRIVATE_KEY: key, OPERATOR_PRIVATE_KEY: key };
      const check = service === "provider" ? ["check", "--config", config] : ["--config", config, "--check-config"];
      const { stdout } = await run(process.execPath, [main, ...check], {
        env,
        timeout: 20_000,
      });
      expect(stdout).toContain("is valid.");
      expect(stdout).toContain(String(chainId));
    },
  );

  test.each([
    ["DeployFinancialDataset", ["financial"]],
    ["DeployWebOracle", ["webOracleNumber", "webOracleBytes", "webOracleRegistry"]],
    ["DeployCommitteeDirectory", ["committeeDirectory"]],
  ])("%s a second time deploys nothing", async (name, contracts) => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    const { exitCode, output, sent } = await scripts.run(name, ["--broadcast"]);
    for (const contract of contracts)
      expect(output).toContain(`${contract} exists already, so nothing was deployed: 0x`);
    expect([exitCode, sent, readFileSync(scripts.deploymentFile, "utf8")]).toEqual([0, 0, before]);
  });

  test("updates the list of keys in the file, and nothing on chain", async () => {
    const before = scripts.deployment();
    const settings = filledIn(chainId);
    const keys = [...settings.financial.keys.slice(1), "SPOTPX/PEPE-USD"];
    scripts.configure({ ...settings, financial: { ...settings.financial, keys } });
    const dry = await scripts.run("DeployFinancialDataset");
    expect(scripts.deployment()).toEqual(before);
    const { exitCode, output, sent } = await scripts.run("DeployFinancialDataset", ["--broadcast"]);
    for (const text of [dry.output, output]) {
      expect(text).toMatch(/Change the keys of financial in \S+\.json: nothing changes on chain\./);
      expect(text).toContain("adds    SPOTPX/PEPE-USD\n");
      expect(text).toContain(`removes ${settings.financial.keys[0]}\n`);
    }
    expect([exitCode, sent]).toEqual([0, 0]);
    const [financial, ...others] = before.datasets;
    expect(scripts.deployment()).toEqual({
      ...before,
      datasets: [{ ...financial, keys: keys.map((key) => stringToHex(key)) }, ...others],
    });
    scripts.configure(settings);
    expect(await scripts.run("DeployFinancialDataset", ["--broadcast"])).toMatchObject({ exitCode: 0, sent: 0 });
    expect(scripts.deployment()).toEqual(before);
  });

  test("a contract that is in the file but not on chain is deployed, or found at its fixed address", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    const { webOracleRegistry: registry, datasets } = scripts.deployment();
    const numbers = String(datasets.find(({ name }) => name === "webOracleNumber")?.address);
    const nowhere = "0x00000000000000000000000000000000000000AA";
    writeFileSync(scripts.deploymentFile, before.replace(String(registry), nowhere).replace(numbers, nowhere));
    expect(await scripts.run("DeployWebOracle", ["--broadcast"])).toMatchObject({ exitCode: 0, sent: 1 });
    const after = scripts.deployment();
    const deployed = String(after.datasets.find(({ name }) => name === "webOracleNumber")?.address);
    expect(deployed).not.toBe(nowhere);
    expect(await scripts.client.getCode({ address: deployed as Address })).toBeDefined();
    expect(readFileSync(scripts.deploymentFile, "utf8")).toBe(before.replace(numbers, deployed));
  });

  test("another contract in the place of a dataset is refused", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    const [financial, web] = scripts.deployment().datasets;
    writeFileSync(scripts.deploymentFile, before.replace(String(financial?.address), String(web?.address)));
    const { exitCode, output, sent } = await scripts.run("DeployFinancialDataset", ["--broadcast"]);
    writeFileSync(scripts.deploymentFile, before);
    expect(output).toContain("financial has another kind or key form. Correct its address.");
    expect(exitCode).not.toBe(0);
    expect(sent).toBe(0);
  });

  test("the two datasets of the Web Oracle in each other's place are refused", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    const { datasets, ...others } = JSON.parse(before);
    const { webOracleNumber, webOracleBytes } = datasets;
    [webOracleNumber.address, webOracleBytes.address] = [webOracleBytes.address, webOracleNumber.address];
    writeFileSync(scripts.deploymentFile, JSON.stringify({ ...others, datasets }));
    const { exitCode, output, sent } = await scripts.run("DeployWebOracle", ["--broadcast"]);
    writeFileSync(scripts.deploymentFile, before);
    expect(output).toContain("webOracleNumber has another kind or key form. Correct its address.");
    expect([exitCode, sent]).toEqual([1, 0]);
  });
});

describe("the EVM of a network is checked before a deployment", () => {
  afterEach(() => scripts.close());

  async function deployOn(hardfork: string): ReturnType<ScriptRunner["run"]> {
    scripts = await startScriptRunner(11_155_111, { hardfork });
    scripts.configure(filledIn(11_155_111));
    return scripts.run("DeployFinancialDataset", ["--broadcast"]);
  }

  test("and an older one is refused, with the RPC's error", async () => {
    const { exitCode, lastLine, sent } = await deployOn("shanghai");
    expect(lastLine).toContain("The network's EVM is older than Cancun, so the contracts would fail,");
    expect(lastLine).toMatch(/Deploy to a network that has Cancun, .* The RPC's error: .*NotActivated/);
    expect([exitCode, sent, existsSync(scripts.deploymentFile)]).toEqual([1, 0, false]);
  });

  test("and Cancun suffices", async () => {
    expect(await deployOn("cancun")).toMatchObject({ exitCode: 0, sent: 1 });
  });
});

describe("on Polygon PoS", () => {
  const warning = "Warning: bridge messages to Polygon PoS have no origin, so a contract that gets one reads without";
  beforeAll(async () => {
    scripts = await startScriptRunner(137);
  });
  afterAll(() => scripts.close());

  test.each([
    ["warns if queries cost something", "1", true],
    ["does not warn if they cost nothing", "0", false],
  ])("a deployment %s", async (_, queryPrice, warns) => {
    const settings = filledIn(11_155_111);
    scripts.configure({ ...settings, chainId: 137, financial: { ...settings.financial, queryPrice } });
    const { exitCode, output } = await scripts.run("DeployFinancialDataset");
    expect([exitCode, output.includes(warning)]).toEqual([0, warns]);
  });
});

describe("invalid settings are rejected, with a sentence that says how to fix them", () => {
  beforeAll(async () => {
    scripts = await startScriptRunner(11_155_111);
  });
  afterAll(() => scripts.close());

  const change = (changes: object) => {
    const settings = filledIn(11_155_111);
    return { ...settings, financial: { ...settings.financial, ...changes } };
  };
  const zero = `0x${"0".repeat(40)}`;
  const refused: [what: string, settings: object, message: string][] = [
    ["of another network", filledIn(42), "is for chain 42, but the RPC is on chain 11155111. Correct one of them."],
    ["without a chain id", { financial: {} }, "chainId is missing. Add it."],
    ["without the dataset", { chainId: 11_155_111 }, "financial.owner is missing. Add it."],
    ["as they are committed", settingsOf(11_155_111), "financial.owner is the zero address. Fill it in."],
    ["without an owner", change({ owner: zero }), "financial.owner is the zero address. Fill it in."],
    ["without members", change({ members: [] }), "financial.members must be 1 to 255 addresses."],
    [
      "with a member left out",
      change({ members: [zero, ...MEMBERS] }),
      "financial.members has the zero address. Fill it in.",
    ],
    [
      "with a member twice",
      change({ members: [MEMBERS[0], MEMBERS[0]] }),
      `${MEMBERS[0]} after ${MEMBERS[0]}. Sort them`,
    ],
    ["with a tolerance over 100 %", change({ toleranceBps: "10001" }), "financial.toleranceBps is over 10000"],
    [
      "with a price over its ceiling",
      change({ queryPrice: "10000000000000001" }),
      "financial.queryPrice is above priceCeiling.",
    ],
    [
      "with a subscription's price over its ceiling",
      change({ subscriptionPrice: "1000000000000000001" }),
      "financial.subscriptionPrice is above subscriptionPriceCeiling.",
    ],
    ["without an age", change({ maxRoundAge: "0" }), "financial.maxRoundAge is 0: no round could be stored."],
    [
      "with a key of another form",
      change({ keys: ["ETH-USD"] }),
      'financial.keys has "ETH-USD", which does not have the key form.',
    ],
  ];
  test.each(refused)("%s", async (_, settings, message) => {
    scripts.configure(settings);
    const { exitCode, lastLine, sent } = await scripts.run("DeployFinancialDataset", ["--broadcast"]);
    expect(lastLine).toContain(message);
    expect(exitCode).not.toBe(0);
    expect([sent, existsSync(scripts.deploymentFile)]).toEqual([0, false]);
  });

  test("that are missing", async () => {
    rmSync(scripts.settingsFile);
    const { exitCode, lastLine } = await scripts.run("DeployFinancialDataset", ["--broadcast"]);
    expect(lastLine).toContain(
      "settings.json does not exist. Copy another network's file and fill it in, or set DEPLOY_CONFIG.",
    );
    expect(exitCode).not.toBe(0);
  });
});
