import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorConfig } from "@dataset-oracle/operator/dist/config.js";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { OPERATOR_PROBLEMS } from "@dataset-oracle/protocol/operator-problem";
import { ProviderConfig } from "@dataset-oracle/provider/dist/config.js";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { toFunctionSelector } from "viem";
import { formatAbiItem } from "viem/utils";
import { beforeAll, describe, expect, test } from "vitest";
import { withAppForDocs } from "../app-for-docs.js";
import { PAGES } from "../pages.js";
import { specTables } from "../reference/configuration-and-specs.js";

const texts = new Map<string, string>();

beforeAll(async () => {
  for (const { path, generate } of PAGES) if (generate) texts.set(path, await generate());
});

/** A generated page, by its path below `reference/`. */
const text = (name: string) => texts.get(`reference/${name}/`) ?? "";

test.each([
  [
    "http",
    ["POST /data/request", "GET /datasets", "GET /history", "GET /live", "GET /ready"],
    "| 503 | `no_quorum` | `failures` |",
    "In `networks[].datasets[].points[].format`:\n",
  ],
  [
    "provider-http",
    ["POST /report", "POST /report/batch", "GET /live", "GET /ready"],
    "| 503 | `source_busy` | `keys` |",
    "In `sources[]`:\n",
  ],
])("the reference %s lists paths, fields and problem codes", (name, paths, problem, fields) => {
  for (const path of paths) expect(text(name)).toContain(`## ${path}\n`);
  expect(text(name)).toContain(problem);
  expect(text(name)).toContain(fields);
});

describe("the reference of the contracts", () => {
  const all = () => [...texts.values()].join("\n");

  test("has every contract, interface and library of src/", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".sol"),
    );
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      expect(all(), file).toContain(`(../../src/${file})`);
      const source = readFileSync(join(ROOT, "src", file), "utf8");
      for (const [, name] of source.matchAll(/^(?:abstract )?(?:contract|interface|library) (\w+)/gm)) {
        expect(all()).toContain(`## ${name}\n`);
      }
    }
  });

  test("documents every member of the main interfaces", () => {
    for (const file of ["Oracle", "interfaces/IDataset", "usingOracleProtocol", "mocks/MockOracle"]) {
      const source = readFileSync(join(ROOT, `src/${file}.sol`), "utf8");
      for (const [, name] of source.matchAll(/^ {4}(?:function|event|error|enum|struct) (?!_)(\w+)/gm)) {
        expect(all(), file).toContain(`#### ${name}\n`);
      }
    }
    expect(text("oracle")).toContain("| `input` | The key in ASCII");
    expect(text("dataset-interface")).toContain("error FutureRound(uint256 timestamp, uint256 blockTimestamp);");
    expect(text("dataset-interface")).toContain("    Report(bytes key,uint8 outcome,bytes32 value,uint256 timestamp)");
    expect(text("datasets")).toContain("As in `IDataset`.");
  });

  test("shows no body and no unresolved tag", () => {
    expect(all()).not.toMatch(/^@\w+/m);
    expect(all()).not.toMatch(/^\s+return /m);
  });
});

test("the list of errors has those of the compiled contracts, with their selectors, and of the helpers", () => {
  const errors = [...datasetAbi, ...verifiedLensAbi].filter((item) => item.type === "error");
  const own = errors.filter(({ name }) => !/^(Ownable|Reentrancy|InvalidShortString|StringTooLong)/.test(name));
  expect(own.length).toBeGreaterThan(20);
  for (const error of own) {
    const row = `| \`${formatAbiItem(error, { includeName: true })}\` | \`${toFunctionSelector(formatAbiItem(error))}\` |`;
    expect(text("errors")).toContain(row);
  }
  expect(text("errors")).toContain("| `BadQueryStatus(uint8 status)` | `0x5b7f02da` | The data point cannot be used.");
});

test("the list of guards has the tests of every invariant", () => {
  const invariants = [...readFileSync(join(ROOT, "docs/Invariants.md"), "utf8").matchAll(/^\| (I\d+) \|/gm)];
  expect(invariants.length).toBeGreaterThan(15);
  for (const [, id] of invariants)
    expect(text("guards")).toMatch(new RegExp(`^## ${id}\n\n.+\n\n\\| guard .+\n.+\n\\| .*\`test`, "m"));
});

test("the reference of the configuration says what every setting means, nested ones too", () => {
  const rows = text("configuration").match(/^\| `.*$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(70);
  for (const row of rows) expect(row.split(/(?<!\\)\|/)[4]?.trim(), row).not.toMatch(/^$|undefined/);
  for (const place of ["networks[]", "networks[].feeds[]", "evidence", "webOracle.rateLimit"]) {
    expect(text("configuration")).toContain(`### ${place}\n`);
  }
  expect(text("configuration")).toContain("| `requestsPerMinute` | integer, 1 to 1,000,000,000 | `60` |");
});

test("the guide of the Web Oracle has every field of a request spec, with its bounds", () => {
  const tables = specTables();
  expect(tables).toHaveLength(4);
  const guide = readFileSync(join(ROOT, "docs/WebOracle.md"), "utf8");
  for (const table of tables) expect(guide).toContain(`\n\n${table}\n\n`);
  expect(tables.join("\n")).toContain("| `variables` | array of object, at most 8 items | ");
  expect(tables.join("\n")).toContain("| `decimals` | integer, 0 to 62, optional | ");
});

test("an operator and a provider on one machine take different ports by default", () => {
  for (const setting of ["port", "metricsPort"]) {
    const rows = text("configuration").match(new RegExp(`^\\| \`${setting}\` .*$`, "gm")) ?? [];
    const ports = rows.map((row) => row.split("|")[3]?.trim());
    expect([new Set(ports).size, ports.length]).toEqual([2, 2]);
  }
});

test("an operator waits for a provider that waits for a source which never answers", () => {
  const { sourceTimeoutMs } = ProviderConfig.properties;
  const { providerTimeoutMs } = OperatorConfig.properties.networks.items.properties;
  expect(providerTimeoutMs.default).toBeGreaterThanOrEqual((sourceTimeoutMs.maximum ?? Number.NaN) + 1_000);
});

describe("the reference of the HTTP API", () => {
  const CURL = /^curl -s 'http:\/\/127\.0\.0\.1:8080([^']+)'(?: -H 'content-type: application\/json' -d '([^']+)')?$/;

  test("has the code of every problem, required parameters, and the values of an enumeration", () => {
    for (const [code, { status }] of Object.entries(OPERATOR_PROBLEMS)) {
      expect(text("http")).toContain(`| ${status.join(", ")} | \`${code}\` |`);
    }
    expect(text("http")).toContain(
      "| `broadcast` | boolean | yes | If true, the operator sends the update transaction;",
    );
    expect(text("http")).toContain('`"DISAGREEMENT"`');
    expect(text("http")).toContain("| `prefer` | string | no |");
  });

  test("has an example of each operation, which the operator understands", async () => {
    const page = text("http");
    const operations = page.match(/^## (GET|POST) /gm) ?? [];
    const commands = page.match(/^curl .*$/gm) ?? [];
    expect(operations.length).toBeGreaterThan(8);
    expect(commands).toHaveLength(operations.length);
    const codes = await withAppForDocs((app) =>
      Promise.all(
        commands.map(async (command) => {
          const [, url = "", body] = CURL.exec(command) ?? [];
          const headers = { "content-type": "application/json" };
          const answer = await app.inject(body ? { method: "POST", url, body, headers } : { url });
          return answer.statusCode < 400 ? "understood" : (answer.json().code as string);
        }),
      ),
    );
    // The operator of this test serves no network.
    expect(new Set(codes)).toEqual(new Set(["understood", "unknown_network"]));
  });
});
