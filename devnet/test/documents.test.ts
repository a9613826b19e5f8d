import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, ROOT } from "@dataset-oracle/tools/foundry";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Devnet, freePorts, HAS_CURL, startDevnet } from "./devnet.js";
import { blocksOf, shapeOf } from "./documents.js";

const run = promisify(execFile);

/** The documents whose commands are run here, one after the other, as a reader would. */
const DOCUMENTS = ["docs/Cookbook.md", "docs/Tour.md"];

let devnet: Devnet;
let ports: string[];

beforeAll(async () => {
  ports = [...(await freePorts()), "--no-feeds"];
  devnet = await startDevnet(ports);
}, 190_000);

afterAll(() => devnet?.interrupt());

/** The documents speak of the default ports; the tests use free ones. And no network is needed for cast. */
const here = (text: string) =>
  text
    .replaceAll("http://127.0.0.1:8080", devnet.operator.url)
    .replaceAll("http://127.0.0.1:8545", devnet.chain)
    .replaceAll(".devnet/8545/", `.devnet/${ports[ports.indexOf("--chain-port") + 1]}/`)
    .replaceAll("http://127.0.0.1:8600", `http://127.0.0.1:${ports[ports.indexOf("--market-port") + 1]}`)
    .replaceAll("npx -s cast", "cast");

describe.each(DOCUMENTS)("%s", (file) => {
  const blocks = blocksOf(file);
  const commands = blocks.flatMap((block, i) =>
    block.language === "sh" && !block.note.startsWith("not run: ") ? [{ ...block, printed: blocks[i + 1] }] : [],
  );

  test.runIf(HAS_CURL).each(commands.map((block) => [block.text.split("\n")[0]?.slice(0, 60), block] as const))(
    "%s",
    async (_, { text, printed }) => {
      const PATH = `${dirname(foundryBinary("cast"))}:${process.env.PATH}`;
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", here(text)], {
        cwd: ROOT,
        env: { ...process.env, PATH },
        timeout: 60_000,
      });
      if (printed?.note === "prints") expect(stdout.replace(/\s+/g, "")).toMatch(shapeOf(printed.text));
      else expect(stdout).not.toContain('"code":');
    },
  );

  test("there is something to run, and what is not run says why", () => {
    expect(commands.length).toBeGreaterThan(0);
    for (const { note } of blocks) expect(note).toMatch(/^$|^prints$|^not run: .{20,}/);
  });
});
