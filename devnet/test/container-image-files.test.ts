import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Process, respondsOk, startProcess } from "@dataset-oracle/devnet/start-process";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImageFolder, filesBelow, isInBuildContext, stagesOf } from "./container-image.js";
import { type Devnet, freePortOptions, startDevnet } from "./devnet-process.js";

const SERVICES = ["operator", "provider"] as const;

type Config = Readonly<Record<string, object>>;

describe("what enters the container build", () => {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  const tracked = String(listed).trim().split("\n");

  test("is what git tracks, except what no build needs", () => {
    const isUnneeded = (file: string) => file.startsWith("lib/") || file.startsWith("compatibility/");
    const left = tracked.filter((file) => !isInBuildContext(file) && !isUnneeded(file));
    expect(left.toSorted()).toEqual([
      ".ci/run",
      ".dockerignore",
      ".github/workflows/ci.yml",
      ".github/workflows/weekly.yml",
      ".gitignore",
      ".gitmodules",
      "biome.json",
      "examples/foundry/.gitignore",
      "examples/hardhat/.gitignore",
      "examples/indexer/.gitignore",
      "vitest.config.ts",
    ]);
  });

  test("is nothing that git ignores", () => {
    const folders = readdirSync(ROOT).filter((name) => isInBuildContext(name) && !name.includes("."));
    const ignored = String(
      execFileSync("git", ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory"], { cwd: ROOT }),
    );
    expect(folders).toContain("operator");
    expect(ignored).toContain("node_modules/");
    expect(ignored.trim().split("\n").filter(isInBuildContext)).toEqual([]);
  });

  test.each([
    ".devnet/8545/keys/operator.key",
    ".env",
    ".git/config",
    ".npmrc",
    "cache/solidity-files-cache.json",
    "config/operator.json",
    "deployments/test-1/42.json",
    "node_modules/solc/soljson.js",
    "operator.json",
    "operator.key",
    "operator/.env",
    "operator/dist/main.js",
    "operator/operator.key",
    "operator/page/node_modules/vite/package.json",
    "out/MedianDataset.sol/MedianDataset.json",
  ])("does not include %s", (path) => {
    expect(isInBuildContext(path)).toBe(false);
  });
});

describe.each(SERVICES)("the image of the %s", (service) => {
  test("takes built files, sources of prices and package files, and nothing else", () => {
    const copied = stagesOf(`${service}/Containerfile`)
      .slice(1)
      .flatMap(({ copies }) => copies);
    const sources = copied.flatMap(({ sources }) => sources).filter((path) => path !== "/app");
    for (const path of sources) {
      expect(path).toMatch(
        /^(?:\/app\/(?:protocol|service|operator|operator\/page|provider|docs)\/dist|\/app\/provider\/sources|(?:\w+\/)?package(?:-lock)?\.json)$/,
      );
      // Only `npm run docs` builds the documents.
      if (path !== "/app/docs/dist") expect(existsSync(join(ROOT, path.replace(/^\/app\//, ""))), path).toBe(true);
    }
    expect(sources).toContain(`/app/${service}/dist`);
    const others = SERVICES.filter((name) => name !== service);
    for (const other of others) expect(sources.join()).not.toContain(other);
  });
});

/** Installing the dependencies takes a minute or two, so it is left to `npm run container`, which runs weekly. */
const isLong = process.env.MODE === "long";

describe.runIf(isLong)("the services start from the files of their images", () => {
  const folder = mkdtempSync(join(tmpdir(), "image-"));
  const started: Process[] = [];
  let devnet: Devnet;
  let devnetFolder: string;

  beforeAll(async () => {
    const ports = await freePortOptions();
    devnet = await startDevnet([...ports, "--no-feeds"]);
    devnetFolder = join(ROOT, ".devnet", ports[ports.indexOf("--chain-port") + 1] ?? "");
  }, 190_000);

  afterAll(async () => {
    for (const process of started) await process.close();
    await devnet?.interrupt();
  });

  /** Starts a service from its image, with the devnet's configuration and these changes. */
  async function start(
    service: string,
    configured: string,
    changes: (config: Config) => object,
    env: Record<string, string>,
  ) {
    const app = buildImageFolder(`${service}/Containerfile`, join(folder, service));
    const port = await freePort();
    const file = join(devnetFolder, "config", `${configured}.json`);
    const config = join(dirname(file), `image-${service}.json`);
    const ofDevnet = JSON.parse(readFileSync(file, "utf8")) as Config;
    writeFileSync(config, JSON.stringify({ ...ofDevnet, port, ...changes(ofDevnet) }));
    const url = `http://127.0.0.1:${port}`;
    const child = await startProcess({
      name: service,
      command: process.execPath,
      args: [join(app, service, "dist/main.js"), ...(service === "provider" ? ["serve"] : []), "--config", config],
      env: { NODE_ENV: "production", ...env },
      logFile: join(folder, `${service}.log`),
      isReady: () => respondsOk(`${url}/ready`),
    });
    started.push(child);
    await child.ready();
    return { app, url };
  }

  /** The packages of an image, without those of its services. */
  const packagesOf = (app: string) =>
    readdirSync(join(app, "node_modules")).flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(app, "node_modules", name)).map((inner) => `${name}/${inner}`) : [name],
    );

  function expectProductionOnly(app: string, service: string): void {
    const packages = packagesOf(app);
    const own = packages.filter((name) => name.startsWith("@dataset-oracle/"));
    expect(own).toEqual(["protocol", "service", service].toSorted().map((name) => `@dataset-oracle/${name}`));
    for (const name of packages)
      expect(name).not.toMatch(/^@foundry-rs|^solc|^typescript$|^vite|^@biomejs|^playwright/);
    expect(packages).toContain("viem");
    const files = filesBelow("", app).filter((file) => !/^(?:node_modules|docs\/dist)\//.test(file));
    for (const file of files) expect(file).not.toMatch(/\.test\.|(?:^|\/)\.|\.ts$(?<!\.d\.ts)|\.key$/);
  }

  test("the operator, with its page and its guide, collects reports", async () => {
    const { app, url } = await start("operator", "operator", () => ({}), {});
    expectProductionOnly(app, "operator");
    for (const path of ["/", "/guide/", "/docs"])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
    const answer = await fetch(`${url}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: false }),
    });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: "OK" })]);
  }, 400_000);

  test("the provider, with its sources, signs", async () => {
    const changes = (config: Config) => ({
      lease: join(folder, "lease"),
      webOracle: { ...config.webOracle, folder: join(folder, "specs") },
    });
    const env = { PROVIDER_PRIVATE_KEY_FILE: join(devnetFolder, "keys", "provider-1.key") };
    const { app, url } = await start("provider", "provider-1", changes, env);
    expectProductionOnly(app, "provider");
    const key = `0x${Buffer.from("SPOTPX/ETH-USD").toString("hex")}`;
    const timestamp = Math.floor(Date.now() / 1000) - 2;
    const answer = await fetch(`${url}/report`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ network_id: 42, dataset: devnet.dataset, key, timestamp }),
    });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ outcome: "OK" })]);
  }, 400_000);
});
