import { ExitError } from "@dataset-oracle/service/config/config-error";
import { describe, expect, test } from "vitest";
import { checkFolders, loadSetup } from "../src/load-setup.js";
import { runProvider, writeConfig } from "./support/provider-process.js";
import { runCommand } from "./support/run-command.js";
import { ACCOUNT, PRIVATE_KEY } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };

/** Returns the error of a configuration, without a process for each. */
async function errorOf(config: string): Promise<string> {
  try {
    checkFolders((await loadSetup(config, { ...ENV })).setup.config);
  } catch (error) {
    expect(error).toBeInstanceOf(ExitError);
    return (error as ExitError).message;
  }
  return "none";
}

describe("provider check", () => {
  test("ends with 0 and says what would be served", async () => {
    const { config } = writeConfig({});
    const { code, stdout, stderr } = await runProvider(["check", "--config", config], ENV);
    // What a start would warn of, too.
    expect(stderr).toMatch(
      /^\S+ on network 42, a median dataset: these keys have too few sources and are not served: SPOTPX\/NOSUCH-USD\./,
    );
    expect(stdout).toBe(`${config} is valid. Provider ${ACCOUNT.address} serves network 42 (datasets: 1, keys: 1).\n`);
    expect(code).toBe(0);
  });

  test.each<[what: string, settings: object, message: string]>([
    ["a deployment that is not there", { deployments: ["no.json"] }, "no.json cannot be read: ENOENT."],
    ["the same network twice", { deployments: ["deployment.json", "deployment.json"] }, "network 42"],
    ["sources that are not there", { sources: ["no-sources"] }, "no-sources cannot be read: ENOENT."],
    [
      "a proxy that is no address",
      { trustedProxies: ["127.0.0.1", "not-an-ip"] },
      "/trustedProxies/1: must be of the form IP address or CIDR range",
    ],
    ["a port that browsers refuse", { port: 10_080 }, "port: browsers and fetch refuse to connect to port 10080"],
    ["a lease in a folder that is not there", { lease: "no/lease" }, "no/lease cannot be used: ENOENT. Check"],
    ["a lease that is a file", { lease: "deployment.json" }, "deployment.json cannot be used: ENOTDIR. Check"],
    ["a folder of other things as lease", { lease: "." }, "holds other files"],
    [
      "evidence in a file",
      { evidence: { folder: "deployment.json", maxMegabytes: 1 } },
      "deployment.json cannot be used: ENOTDIR. Check",
    ],
    [
      "published specs in a file",
      { webOracle: { rpcUrls: {}, folder: "deployment.json", hosts: ["api.example.com"] } },
      "deployment.json cannot be used: ENOTDIR. Check",
    ],
    ["more sources needed than there are", { minSources: 99 }, "No key of the deployments has 99 sources."],
  ])("names what to fix: %s", async (_, change, message) => {
    expect(await errorOf(writeConfig(change).config)).toContain(message);
  });

  test("ends with 2 and prints the error alone", async () => {
    const { config } = writeConfig({ prot: 1 });
    const { code, stdout, stderr } = await runCommand(["check", "--config", config], ENV);
    expect(stderr).toBe(`${await errorOf(config)}\n`);
    expect(stderr).toContain("/prot: is unknown; remove it");
    expect([code, stdout]).toEqual([2, ""]);
  });
});
