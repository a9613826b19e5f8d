import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
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

/** The interfaces that integrators read. Contracts inherit their documentation. */
const INTERFACES = ["Oracle", "IDataset", "IWebOracleRegistry", "ICommitteeDirectory"];

/** Returns the docs of all functions, events or errors with a name. */
const docsOf = (docs: Docs = {}, name: string) =>
  Object.entries(docs)
    .filter(([signature]) => signature.startsWith(`${name}(`))
    .flatMap(([, doc]) => doc);

test.each(INTERFACES)("%s documents every function, event and error", (name) => {
  const { rawMetadata } = JSON.parse(readFileSync(join(ROOT, `out/${name}.sol/${name}.json`), "utf8"));
  const { abi, devdoc, userdoc }: Contract = JSON.parse(rawMetadata).output;
  const missing = abi.flatMap((item) => {
    const group = item.type === "function" ? "methods" : item.type === "event" ? "events" : "errors";
    const notice = docsOf(userdoc[group], item.name).map((doc) => doc.notice ?? "");
    const [doc = {}] = docsOf(devdoc[group], item.name);
    const lacks = notice.join("") === "" ? [`${item.type} ${item.name}`] : [];
    // The notice of an event or an error covers its parameters.
    if (item.type !== "function") return lacks;
    const params = item.inputs.filter((input) => input.name !== "" && !doc.params?.[input.name]);
    const returns = (item.outputs ?? []).filter((output) => output.name !== "" && !doc.returns?.[output.name]);
    return [...lacks, ...[...params, ...returns].map((one) => `${item.name}: ${one.name}`)];
  });
  expect(abi.length).toBeGreaterThan(1);
  expect(missing).toEqual([]);
});
