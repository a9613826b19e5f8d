import { describe, expect, test } from "vitest";
import { inRanges } from "./address-ranges.js";

describe("a range of addresses", () => {
  const cases: [range: string, inside: string[], outside: string[]][] = [
    ["127.0.0.1", ["127.0.0.1", "::ffff:127.0.0.1"], ["127.0.0.2", "::1", "unknown", ""]],
    ["10.1.0.0/16", ["10.1.0.0", "10.1.255.255"], ["10.2.0.0"]],
    ["2001:db8::/32", ["2001:db8:1::1"], ["2001:db9::1", "32.1.13.184"]],
    ["::1", ["::1"], ["127.0.0.1"]],
  ];
  for (const [range, inside, outside] of cases) {
    test(range, () => {
      const isIn = inRanges([range]);
      for (const address of inside) expect(isIn(address), address).toBe(true);
      for (const address of outside) expect(isIn(address), address).toBe(false);
    });
  }

  test("that is invalid is refused", () => {
    for (const text of ["", "localhost", "1.2.3", "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/8/8", "::1/129", "fe80::1%eth0"]) {
      expect(() => inRanges([text]), text).toThrow("is not an IP address or CIDR range");
    }
  });
});
