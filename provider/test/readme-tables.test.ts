import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startProvider } from "./support/test-provider.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
/** Returns the code of every problem in the OpenAPI document, after its status. */
const problemsIn = (responses: object) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      [...JSON.stringify(response).matchAll(/"enum":\["(\w+)"\]/g)].map(([, code]) => `${status} ${code}`),
    );

it("the README's table has every error code with its status, and no other", async () => {
  const provider = await startProvider({});
  const response = await fetch(`${provider.url}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, { responses: object }>> };
  await provider.close();
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
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
