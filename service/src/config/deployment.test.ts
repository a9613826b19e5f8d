import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.js";
import { loadDeployment } from "./deployment.js";

const folder = mkdtempSync(join(tmpdir(), "deployment-"));

const ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const REGISTRY = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const WEB_KEY = `WEB/${"ab".repeat(32)}/London`;

const financial = { address: ADDRESS, kind: "median", keyForm: "SPOT_PRICE", keys: ["SPOTPX/ETH-USD"] };
const webOracleBytes = { address: ADDRESS, kind: "majority", keyForm: "WEB_ORACLE", keys: [] as string[] };

function load(change: object) {
  const file = join(folder, "42.json");
  writeFileSync(file, JSON.stringify({ chainId: 42, datasets: { financial }, ...change }));
  return loadDeployment(file);
}

describe("a deployment file", () => {
  test("is read with checksummed addresses and keys in hex, however they are written", () => {
    const keys = ["SPOTPX/ETH-USD", stringToHex("SPOTPX/BTC-USD").toUpperCase().replace("0X", "0x")];
    const written = { ...financial, address: ADDRESS.toLowerCase(), keys };
    expect(load({ datasets: { financial: written } })).toEqual({
      chainId: 42,
      datasets: [
        {
          ...financial,
          name: "financial",
          address: ADDRESS,
          keys: [stringToHex("SPOTPX/ETH-USD"), stringToHex("SPOTPX/BTC-USD")],
        },
      ],
    });
  });

  test("may list the committee of a dataset, its members in any order", () => {
    const [first, second] = [ADDRESS, REGISTRY].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    const listed = { ...financial, members: [second, first?.toLowerCase()], toleranceBps: 100 };
    const [dataset] = load({ datasets: { listed } }).datasets;
    expect(dataset?.committee).toEqual({ members: [first, second], toleranceBps: 100n });
  });

  test.each(["verifiedLens", "committeeDirectory", "webOracleRegistry"] as const)("may have a %s", (name) => {
    expect(load({ [name]: REGISTRY.toLowerCase() })[name]).toBe(REGISTRY);
  });

  test("may have Web Oracle datasets", () => {
    const [dataset] = load({ datasets: { listed: { ...webOracleBytes, keys: [WEB_KEY] } } }).datasets;
    const { kind, keyForm } = webOracleBytes;
    expect(dataset).toMatchObject({ name: "listed", kind, keyForm, keys: [stringToHex(WEB_KEY)] });
  });

  const changed = (change: object) => ({ datasets: { financial: { ...financial, ...change } } });
  const otherForm = { datasets: { webOracleBytes: { ...webOracleBytes, keys: ["SPOTPX/ETH-USD"] } } };
  test.each<[what: string, change: object, message: string]>([
    ["an invalid dataset address", changed({ address: "0x1" }), "dataset financial: "],
    ["members without a tolerance", changed({ members: [ADDRESS] }), "only one of members and toleranceBps is set."],
    ["an invalid member", changed({ members: ["0x1"], toleranceBps: 1 }), "dataset financial: members: "],
    ["an invalid registry address", { webOracleRegistry: `${REGISTRY.slice(0, -1)}3` }, "webOracleRegistry: "],
    ["an invalid key", changed({ keys: ["0x5"] }), 'dataset financial: key "0x5": '],
    ["a key of another form", otherForm, 'key "SPOTPX/ETH-USD" does not have this dataset\'s form: WEB/ and 64 '],
    ["an invalid kind", changed({ kind: "mean" }), "must be one of median, majority"],
  ])("is refused for %s, with a message that names the fix", (_, change, message) => {
    expect(() => load(change)).toThrow(ConfigError);
    expect(() => load(change)).toThrow(message);
  });
});
