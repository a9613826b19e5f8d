import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { describe, expect, it } from "vitest";
import { checkFolders, loadSetup } from "../src/load-setup.js";
import { runProvider, writeConfig } from "./support/provider-process.js";
import { ACCOUNT, PRIVATE_KEY } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };
const check = (config: string, env: Record<string, string> = ENV) => runProvider(["check", "--config", config], env);

/** Returns the error of a configuration, without a process for each. */
async function errorOf(config: string, env: Record<string, string> = ENV): Promise<string> {
  try {
    checkFolders((await loadSetup(config, { ...env })).setup.config);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  return "none";
}

describe("provider check", () => {
  it("ends with 0 and says what would be served", async () => {
    const { config } = writeConfig({});
    const { code, stdout, stderr } = await check(config);
    // What a start would warn of, too.
    expect(stderr).toMatch(
      /^\S+ on network 42, a median dataset: these keys have too few sources and are not served: SPOTPX\/NOSUCH-USD\./,
    );
    expect(stdout).toBe(`${config} is valid. Provider ${ACCOUNT.address} serves network 42 (datasets: 1, keys: 1).\n`);
    expect(code).toBe(0);
  });

  const settings: [what: string, settings: object, chainId: number, message: string][] = [
    ["an unknown setting", { prot: 1 }, 42, "/prot: is unknown; remove it"],
    ["a port as text", { port: "8100" }, 42, "/port: must be a whole number, without quotes"],
    ["a port that is none", { port: 65_536 }, 42, "/port: must be at most 65535"],
    ["no deployment", { deployments: [] }, 42, "/deployments: "],
    ["a deployment that is not there", { deployments: ["no.json"] }, 42, "no.json cannot be read: ENOENT."],
    ["the same network twice", { deployments: ["deployment.json", "deployment.json"] }, 42, "network 42"],
    ["sources that are not there", { sources: ["no-sources"] }, 42, "no-sources cannot be read: ENOENT."],
    [
      "a proxy that is no address",
      { trustedProxies: ["127.0.0.1", "not-an-ip"] },
      42,
      "/trustedProxies/1: must be of the form IP address or CIDR range",
    ],
    ["a range that is too narrow", { trustedProxies: ["10.0.0.0/33"] }, 42, "/trustedProxies/0: "],
    ["a port that browsers refuse", { port: 10_080 }, 42, "port: browsers and fetch refuse to connect to port 10080"],
    ["a deadline beyond 5 s", { sourceTimeoutMs: 5_001 }, 42, "/sourceTimeoutMs: "],
    ["no lease", { lease: undefined }, 42, "/lease: "],
    ["a lease in a folder that is not there", { lease: "no/lease" }, 42, "no/lease cannot be used: ENOENT. Check"],
    ["a lease that is a file", { lease: "deployment.json" }, 42, "deployment.json cannot be used: ENOTDIR. Check"],
    ["a folder of other things as lease", { lease: "." }, 42, "holds other files"],
    [
      "evidence in a file",
      { evidence: { folder: "deployment.json", maxMegabytes: 1 } },
      42,
      "deployment.json cannot be used: ENOTDIR. Check",
    ],
    [
      "published specs in a file",
      { webOracle: { rpcUrls: {}, folder: "deployment.json", hosts: ["api.example.com"] } },
      42,
      "deployment.json cannot be used: ENOTDIR. Check",
    ],
    ["evidence below a file", { evidence: { folder: "provider.json/a/b", maxMegabytes: 1 } }, 42, "ENOTDIR"],
    ["more sources needed than there are", { minSources: 99 }, 42, "No key of the deployments has 99 sources."],
    ["no source needed", { minSources: 0 }, 42, "/minSources: "],
    [
      "an origin redirected away from this machine",
      { redirectedOrigins: { "https://api.kraken.com": "http://10.0.0.1" } },
      42,
      "Use http and a loopback IP address",
    ],
    [
      "a redirected origin while the main network is served",
      { redirectedOrigins: { "https://api.kraken.com": "http://127.0.0.1:9000/kraken" } },
      1,
      "network 1 is served",
    ],
  ];
  for (const [what, change, chainId, message] of settings) {
    it(`names what to fix: ${what}`, async () => {
      const { config } = writeConfig(change, chainId);
      expect(await errorOf(config)).toContain(message);
    });
  }

  it("ends with 2 and prints the error alone", async () => {
    const { config } = writeConfig({ prot: 1 });
    const { code, stdout, stderr } = await check(config);
    expect(stderr).toBe(`${await errorOf(config)}\n`);
    expect(stderr).toContain("/prot: is unknown; remove it");
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("names a key of the deployment that is none", async () => {
    const { config } = writeConfig({}, 42, ["0x5"]);
    expect(await errorOf(config)).toContain('key "0x5"');
  });

  it("names a file that is not there, and one that is not JSON", async () => {
    const { folder } = writeConfig({});
    expect(await errorOf(join(folder, "no.json"))).toContain("ENOENT");
    writeFileSync(join(folder, "broken.json"), "{");
    expect(await errorOf(join(folder, "broken.json"))).toContain("is not JSON");
  });
});

describe("the signing key", () => {
  const { folder, config } = writeConfig({}, 42, ["SPOTPX/ETH-USD"]);
  const keyFile = join(folder, "key");

  it("may come from a file, and a file that others can read is warned of", async () => {
    writeFileSync(keyFile, `${PRIVATE_KEY}\n`, { mode: 0o600 });
    expect(await check(config, { PROVIDER_PRIVATE_KEY_FILE: keyFile })).toMatchObject({ code: 0, stderr: "" });
    chmodSync(keyFile, 0o644);
    const open = await check(config, { PROVIDER_PRIVATE_KEY_FILE: keyFile });
    expect(open.code).toBe(0);
    expect(open.stderr).toBe(
      "The file that PROVIDER_PRIVATE_KEY_FILE names can be read by others (mode 644). Run chmod 600 on it.\n",
    );
  });

  it("must be there, once", async () => {
    expect(await errorOf(config, {})).toContain("Set PROVIDER_PRIVATE_KEY_FILE");
    expect(await errorOf(config, { ...ENV, PROVIDER_PRIVATE_KEY_FILE: keyFile })).toContain("Keep one.");
  });

  it("is never shown, also when it is not one", async () => {
    const digits = "ab".repeat(31);
    for (const key of [digits, `0x${digits}`, `0x${digits}zz`, `0x${"ff".repeat(32)}`]) {
      const error = await errorOf(config, { PROVIDER_PRIVATE_KEY: key });
      expect(error).toContain("PROVIDER_PRIVATE_KEY does not hold a private key");
      expect(error).not.toContain(key.slice(2, 20));
    }
    const { stdout, stderr } = await check(config, { PROVIDER_PRIVATE_KEY: digits });
    expect(stderr).toContain("PROVIDER_PRIVATE_KEY does not hold a private key");
    expect(stdout + stderr).not.toContain(digits.slice(0, 18));
  });

  it("is never shown, also when it is set as the path of its file", async () => {
    for (const value of [PRIVATE_KEY, PRIVATE_KEY.slice(2), ` ${PRIVATE_KEY}\n`, PRIVATE_KEY.slice(0, -1)]) {
      expect(await errorOf(config, { PROVIDER_PRIVATE_KEY_FILE: value })).toBe(
        "PROVIDER_PRIVATE_KEY_FILE looks like a key. Set it to the path of a file that holds the key.",
      );
    }
    const { stdout, stderr } = await check(config, { PROVIDER_PRIVATE_KEY_FILE: PRIVATE_KEY });
    expect(stdout + stderr).not.toContain(PRIVATE_KEY.slice(2, 20));
    expect(await errorOf(config, { PROVIDER_PRIVATE_KEY_FILE: "/no/such/file" })).toBe(
      "The file that PROVIDER_PRIVATE_KEY_FILE names cannot be read: ENOENT. Check the path and its permissions.",
    );
  });
});
