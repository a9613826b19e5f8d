import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import { spotPriceKey } from "@dataset-oracle/protocol";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImageFolder, isInBuildContext, stagesOf } from "./container-image.js";
import { type Devnet, freePortOptions, START_MS, startDevnet } from "./devnet-process.js";

const SERVICES = ["operator", "provider"] as const;

describe("what enters the container build", () => {
  const git = (...args: string[]) => execFileSync("git", ["ls-files", "--exclude-standard", ...args], { cwd: ROOT });

  test("is every file that git tracks in a folder of a package", () => {
    const packages: string[] = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).workspaces;
    const tracked = String(git("--cached", "--others", "--", ...packages))
      .trim()
      .split("\n");
    expect(tracked.length).toBeGreaterThan(500);
    expect(tracked.filter((file) => !isInBuildContext(file))).toEqual([]);
  });

  test("is nothing that git ignores", () => {
    const ignored = String(git("--others", "--ignored", "--directory"));
    expect(ignored).toContain("node_modules/");
    expect(ignored.trim().split("\n").filter(isInBuildContext)).toEqual([]);
  });

  test("is no key, no configuration and nothing that was built", () => {
    const secret = [".devnet/8545/keys/operator.key", ".env", ".git/config", ".npmrc", "operator/.env", "operator.key"];
    const own = ["config/operator.json", "operator.json", "deployments/test-1/42.json", "operator/operator.key"];
    const built = [
      "cache/solidity-files-cache.json",
      "operator/dist/main.js",
      "out/MedianDataset.sol/MedianDataset.json",
    ];
    expect([...secret, ...own, ...built].filter(isInBuildContext)).toEqual([]);
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
  const started: ServiceProcess[] = [];
  let devnet: Devnet;

  beforeAll(async () => {
    devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  }, START_MS);

  afterAll(async () => {
    for (const process of started) await process.close();
    await devnet?.interrupt();
  });

  /** Starts a service from its image, with a configuration of the devnet and its key. Returns its URL. */
  async function start(program: (typeof SERVICES)[number], like: string, changes: object = {}): Promise<string> {
    const build = buildImageFolder(`${program}/Containerfile`, join(folder, program));
    expectProductionOnly(build, program);
    const at = (name: string) => join(ROOT, devnet.folder, name);
    const config = {
      ...JSON.parse(readFileSync(at(`config/${like}.json`), "utf8")),
      port: await freePort(),
      ...changes,
    };
    const service = await startService({
      program,
      name: `image-${program}`,
      config,
      privateKeys: [readFileSync(at(`keys/${like}.key`), "utf8").trim()],
      folder: { config: at("config"), keys: at("keys"), logs: folder },
      env: { NODE_ENV: "production" },
      build,
    });
    started.push(service);
    await service.ready();
    return service.url;
  }

  function expectProductionOnly(app: string, service: string): void {
    const packages = readdirSync(join(app, "node_modules")).flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(app, "node_modules", name)).map((inner) => `${name}/${inner}`) : [name],
    );
    const own = packages.filter((name) => name.startsWith("@dataset-oracle/"));
    expect(own).toEqual(["protocol", "service", service].toSorted().map((name) => `@dataset-oracle/${name}`));
    for (const name of packages)
      expect(name).not.toMatch(/^@foundry-rs|^solc|^typescript$|^vite|^@biomejs|^playwright/);
    expect(packages).toContain("viem");
    const files = readdirSync(app, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(app, join(parentPath, name)))
      .filter((file) => !/^(?:node_modules|docs\/dist)\//.test(file));
    for (const file of files) expect(file).not.toMatch(/\.test\.|(?:^|\/)\.|\.ts$(?<!\.d\.ts)|\.key$/);
  }

  async function post(url: string, body: object) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return [answer.status, await answer.json()];
  }

  test("the operator, with its page and its guide, collects reports", async () => {
    const url = await start("operator", "operator");
    for (const path of ["/", "/guide/", "/openapi.json"])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
    const request = { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: false };
    expect(await post(`${url}/data/request`, request)).toEqual([200, expect.objectContaining({ status: "OK" })]);
  }, 400_000);

  test("the provider, with its sources, signs", async () => {
    const url = await start("provider", "provider-1", { lease: join(folder, "lease"), evidence: undefined });
    const timestamp = Math.floor(Date.now() / 1000) - 2;
    const report = { network_id: 42, dataset: devnet.dataset, key: spotPriceKey("ETH-USD"), timestamp };
    expect(await post(`${url}/report`, report)).toEqual([200, expect.objectContaining({ outcome: "OK" })]);
  }, 400_000);
});
