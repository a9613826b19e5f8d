import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";
import { HAS_CURL } from "../has-curl.js";
import { nextRound, type OneDevnet } from "../one-devnet.js";

/** Tests the commands that the devnet prints to be pasted. */
export function printedCommandTests(one: () => OneDevnet): void {
  /** Returns the commands that the devnet printed under a title, one per line. */
  function printed(title: string): string[] {
    const lines = one().devnet.output().split("\n");
    const from = lines.findIndex((line) => line.includes(`# ${title}`));
    expect(from).toBeGreaterThan(0);
    const block = lines.slice(from + 1);
    return block.slice(0, block.indexOf("")).map((line) => line.trim());
  }

  /** Runs a command in a shell, with the native cast: npm's launcher would hide a failure. Returns the lines that it prints. */
  async function paste(command = ""): Promise<string[]> {
    const line = command.replace(/^npx cast/, `"${foundryBinary("cast")}"`);
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { cwd: ROOT, timeout: 60_000 });
    return stdout.split("\n").map((line) => line.replace(/ \[.*\]$/, ""));
  }

  test.runIf(HAS_CURL)("request, read and pay for a value", async () => {
    const { devnet } = one();
    await nextRound();
    const [posted = ""] = await paste(printed("Request a fresh value and wait until it is mined")[0]);
    const { status, key, value, timestamp } = JSON.parse(posted);
    expect([status, key]).toEqual(["OK", "SPOTPX/ETH-USD"]);
    const [price] = await paste(printed("Read the price of a query, in wei")[0]);
    expect(price).toBe(devnet.queryPrice);
    const read = await paste(printed("Read the value")[0]);
    expect(read.slice(0, 3)).toEqual([value, String(timestamp), "1"]);
    const [refresh, priceRead] = printed("Let the example contract pay");
    expect(await paste(refresh)).toContainEqual(expect.stringMatching(/^status\s+1 \(success\)$/));
    expect((await paste(priceRead))[0]).toBe(value);
  });

  test.runIf(HAS_CURL)("request and read a Web Oracle value, and publish a spec", async () => {
    await nextRound();
    const [posted = ""] = await paste(printed("Request a fresh Web Oracle value")[0]);
    const { status, key, value, timestamp } = JSON.parse(posted);
    expect([status, key]).toEqual(["OK", one().devnet.webOracle.examples[0]?.key]);
    const read = await paste(printed("Read it: kelvin × 10^2")[0]);
    expect(read.slice(0, 3)).toEqual([value, String(timestamp), "1"]);
    const published = await paste(printed("Publish a request spec")[0]);
    expect(published).toContainEqual(expect.stringMatching(/^Published 0x[0-9a-f]{64} on network 42/));
  });
}
