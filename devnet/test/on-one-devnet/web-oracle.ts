import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import { simulateQuery } from "@dataset-oracle/protocol";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Hex, numberToHex, stringToHex } from "viem";
import { expect, test, vi } from "vitest";
import type { OneDevnet } from "../one-devnet.js";
import { postDataRequest } from "../post-data-request.js";

/** The origin of a web API on this machine. */
export const OWN_ORIGIN = "https://api.mine.example";

/** Tests the Web Oracle's datasets with the devnet's example specs, and with one that a dapp developer publishes. */
export function webOracleTests(one: () => OneDevnet): void {
  /** Has a value stored. On a busy machine, the providers may need several requests to read a spec for the first time. */
  async function store(dataset: string, key: string) {
    const request = { network_id: 42, dataset, key, broadcast: true };
    return vi.waitFor(
      async () => {
        const { answer } = await postDataRequest(one().devnet, request);
        expect(answer.status, answer.detail).toBe("OK");
        return answer;
      },
      { timeout: 240_000, interval: 1_000 },
    );
  }

  /** Reads what the simulated API answers. */
  async function readWeather(path: string, init?: RequestInit) {
    const answer = await fetch(`${one().devnet.market}/weather${path}`, init);
    return (await answer.json()) as {
      air: { kelvin: string };
      sky: string;
      raining: boolean;
      document: { sha256: Hex };
    };
  }

  test("a value of each type is stored by a POST, and read by query", async () => {
    const london = await readWeather("/now?city=London");
    const { document } = await readWeather("/documents/find", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ archive: "storms", number: "7" }),
    });
    const word = (value: bigint) => numberToHex(value, { size: 32 });
    const outputs: Record<string, Hex> = {
      temperature: word(BigInt(london.air.kelvin.replace(".", ""))),
      sky: stringToHex((await readWeather(`/now?city=${encodeURIComponent("São Paulo")}`)).sky, { size: 32 }),
      raining: word(london.raining ? 1n : 0n),
      document: document.sha256,
    };
    const { devnet, chain } = one();
    expect(devnet.webOracle.examples.map(({ name }) => name)).toEqual(Object.keys(outputs));
    for (const { name, dataset, key, keyHex } of devnet.webOracle.examples) {
      const { value, timestamp } = await store(dataset, key);
      const output = outputs[name] ?? "0x";
      expect([name, value]).toEqual([name, name === "temperature" ? String(BigInt(output)) : output]);
      const read = await simulateQuery(chain, { dataset, key: keyHex });
      expect(read).toMatchObject({ output, updatedAt: BigInt(timestamp), status: "OK" });
    }
  });

  const folder = mkdtempSync(join(tmpdir(), "own-specs-"));
  const program = join(ROOT, "provider", "dist", "main.js");
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args], { cwd: ROOT });

  /** Publishes a spec as its author does. */
  async function publish(spec: object) {
    const { devnet } = one();
    const file = join(folder, "spec.json");
    writeFileSync(file, JSON.stringify(spec));
    const place = ["--deployment", join(devnet.folder, "deployments/42.json"), "--rpc-url", devnet.chain];
    const { stdout } = await run("publish", file, ...place, "--from", deriveAccount(8).address);
    return { file, stdout };
  }

  test("a dapp developer publishes a spec of their own, and asks for its value", async () => {
    const spec = JSON.parse(readFileSync(join(ROOT, "devnet/specs/temperature.json"), "utf8"));
    const { file, stdout } = await publish({ ...spec, title: "The temperature, my own way" });
    const [, hash] = /^Published 0x([0-9a-f]{64}) on network 42/m.exec(stdout) ?? [];
    const [key = ""] = (await run("key", file, "Lima")).stdout.split("\n");
    expect(key).toBe(`WEB/${hash}/Lima`);
    await store(one().devnet.webOracle.numbers, key);
  });

  const own = (url: string) => ({
    title: url,
    variables: [{ name: "id", type: "integer", characters: "digits", minLength: 1, maxLength: 9 }],
    sources: [
      {
        ...{ method: "GET", url, path: "$.list[?@.id == {id}].at" },
        ...{ type: "uint", decimals: 0, rounding: "truncate", format: "iso8601" },
      },
    ],
    minSources: 1,
    combine: "median",
  });

  test("the command that publish prints requests the value of an API on this machine, which is redirected", async () => {
    const { devnet } = one();
    const { stdout } = await publish(own(`${OWN_ORIGIN}/list`));
    const [, body = ""] = /^ {2}next: .* -d '(.*)'$/m.exec(stdout) ?? [];
    const { dataset, key } = JSON.parse(body.replace("<id>", "7"));
    expect(dataset).toBe(devnet.webOracle.numbers);
    expect(await store(dataset, key)).toMatchObject({ value: String(Date.UTC(2026, 0, 31, 12) / 1_000) });
    expect(devnet.output()).toContain(`redirected  ${OWN_ORIGIN}  is asked at http://127.0.0.1:`);
  });

  test("whoever requests a value of a host that cannot be reached is told so, and nothing is signed", async () => {
    const { file } = await publish(own("https://no-such-host.mine.example/list"));
    const [key = ""] = (await run("key", file, "7")).stdout.split("\n");
    const { devnet } = one();
    const request = { network_id: 42, dataset: devnet.webOracle.numbers, key, broadcast: false };
    await vi.waitFor(
      async () => {
        const { answer } = await postDataRequest(devnet, request);
        expect(answer).toMatchObject({ code: "no_quorum", failures: Array(4).fill({ reason: "source_unreachable" }) });
      },
      { timeout: 240_000, interval: 1_000 },
    );
  });
}
