import { schemaProblems } from "@dataset-oracle/service/config/schema-problems";
import { describe, expect, test } from "vitest";
import { ProviderConfig } from "./config.js";
import { checkRedirectedOrigins } from "./load-setup.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";

const KRAKEN = "https://api.kraken.com";
const sources = loadSources([SHIPPED_SOURCES]);
const problemsOf = (target: string) =>
  schemaProblems(ProviderConfig.properties.redirectedOrigins, { [KRAKEN]: target }).join("\n");

describe("a redirected origin", () => {
  test.each([
    ["http://127.0.0.1:9000/kraken", true],
    ["http://[::1]:9000/k", true],
    ["http://127.9.9.9/k", true],
    ["http://10.0.0.1/kraken", false],
    ["http://localhost:9000/kraken", false],
    ["http://127.0.0.1.example.com/kraken", false],
    ["http://127.0.0.1@example.com/kraken", false],
    ["http://127.0.0.1:9000/kraken/", false],
    ["", false],
  ])("may be a base address of this machine, and nothing else: %j is %s", (target, isAllowed) => {
    expect(problemsOf(target)).toMatch(isAllowed ? /^$/ : /Use http and a loopback IP address/);
  });

  test.each([1, 10, 8453, 11155111])("is refused when network %i is served, which is no development chain", (real) => {
    const check = (...redirected: string[]) => checkRedirectedOrigins(redirected, sources, null, [42, real]);
    expect(() => check(KRAKEN)).toThrow(`network ${real} is served`);
    expect(() => check()).not.toThrow();
  });

  test("belongs to a source, or to a host that published specs may ask", () => {
    const check = (origin: string, hosts?: "any" | readonly string[]) => () =>
      checkRedirectedOrigins([origin], sources, hosts === undefined ? null : { hosts: hosts as string[] }, [42]);
    expect(check(KRAKEN)).not.toThrow();
    expect(check("https://api.krakn.com")).toThrow("https://api.krakn.com is not the https origin of a source.");
    expect(check("https://api.example.com", ["api.example.org"])).toThrow("is not the https origin of a source.");
    expect(check("https://api.example.com", ["api.example.com"])).not.toThrow();
    expect(check("https://api.example.com", "any")).not.toThrow();
  });
});
