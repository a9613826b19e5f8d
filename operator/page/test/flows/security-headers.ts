import { expect, test } from "vitest";
import type { TestEnvironment } from "../support/test-environment.js";

/** The headers with which the page is served. */
export function securityHeaderFlows(environment: () => TestEnvironment): void {
  test("include a strict content security policy", async () => {
    const { url } = environment().devnet.operator;
    const { headers } = await fetch(`${url}/`);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-cache");
  });
}
