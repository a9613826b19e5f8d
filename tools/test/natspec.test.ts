import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { expect, test } from "vitest";

interface AbiItem {
  type: string;
  name: string;
  inputs: { name: string; type: string }[];
  outputs?: { name: string }[];
}
interface Doc {
  notice?: string;
  params?: Record<string, string>;
  returns?: Record<string, string>;
}
type Docs = Record<string, Doc | Doc[]>;
interface Contract {
  abi: AbiItem[];
  devdoc: Record<"methods" | "events" | "errors", Docs>;
  userdoc: Record<"methods" | "events" | "errors", Docs>;
}

/** What an integrator reads. A contract inherits the text of its interface. */
const INTERFACES = {
  "src/Oracle.sol": "Oracle",
  "src/interfaces/IDataset.sol": "IDataset",
  "src/interfaces/IWebOracleRegistry.sol": "IWebOracleRegistry",
};

const solc = createRequire(import.meta.url)("solc");
const read = (path: string) => ({ contents: readFileSync(join(ROOT, path), "utf8") });
const input = {
  language: "Solidity",
  sources: Object.fromEntries(Object.keys(INTERFACES).map((path) => [path, { content: read(path).contents }])),
  settings: { outputSelection: { "*": { "*": ["abi", "devdoc", "userdoc"] } } },
};
const { contracts } = JSON.parse(solc.compile(JSON.stringify(input), { import: read }));

/** All docs of the functions, events or errors of one name. */
const docsOf = (docs: Docs = {}, name: string) =>
  Object.entries(docs)
    .filter(([signature]) => signature.startsWith(`${name}(`))
    .flatMap(([, doc]) => doc);

test.each(Object.entries(INTERFACES))("%s documents all that it has", (path, name) => {
  const { abi, devdoc, userdoc }: Contract = contracts[path][name];
  const missing = abi.flatMap((item) => {
    const group = item.type === "function" ? "methods" : item.type === "event" ? "events" : "errors";
    const notice = docsOf(userdoc[group], item.name).map((doc) => doc.notice ?? "");
    const [doc = {}] = docsOf(devdoc[group], item.name);
    const lacks = notice.join("") === "" ? [`${item.type} ${item.name}`] : [];
    // A view says in its notice what it returns; an event or an error says in its one sentence what it names.
    if (item.type !== "function") return lacks;
    const params = item.inputs.filter((input) => input.name !== "" && !doc.params?.[input.name]);
    const returns = (item.outputs ?? []).filter((output) => output.name !== "" && !doc.returns?.[output.name]);
    return [...lacks, ...[...params, ...returns].map((one) => `${item.name}: ${one.name}`)];
  });
  expect(abi.length).toBeGreaterThan(1);
  expect(missing).toEqual([]);
});
