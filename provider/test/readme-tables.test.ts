import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startProvider } from "./support/test-provider.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
interface Paths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
}

/** Returns the codes of the problems in the responses of an operation, each after its status. Nothing else in them is an enum. */
const problemsIn = (responses: object) =>
  Object.entries(responses)
    .filter(([status]) => status !== "200")
    .flatMap(([status, response]) =>
      [...JSON.stringify(response).matchAll(/"type":"string","enum":\["(\w+)"\]/g)].map(
        ([, code]) => `${status} ${code}`,
      ),
    );

it("the README's table has every error code with its status, and no other", async () => {
  const provider = await startProvider({});
  const { paths } = (await (await fetch(`${provider.url}/openapi.json`)).json()) as Paths;
  await provider.close();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const documented = operations.flatMap(({ responses }) => problemsIn(responses));
  // Whatever else the framework refuses has the status that the framework gives.
  const own = documented.map((problem) => problem.replace(/^\d+ bad_request$/, "4xx bad_request"));
  const ofPaths = ["404 no_such_path", "405 method_not_allowed"];
  const listed = readme.split("\n").flatMap((line) => {
    const [, status, codes] = /^\| (\dxx|\d{3}) +\| (`.*?`) *\|/.exec(line) ?? [];
    return [...(codes ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`);
  });
  expect(listed.toSorted()).toEqual([...new Set([...own, ...ofPaths])].toSorted());
});

it("the README's table has every metric, and no other", async () => {
  const provider = await startProvider({});
  const names = provider.registry.getMetricsAsArray().map(({ name }) => name);
  await provider.close();
  const listed = [...readme.matchAll(/^\| `((?:http|provider)_\w+)`/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual(names.toSorted());
});
