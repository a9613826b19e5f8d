import { describe, expect, test } from "vitest";
import { callerIdOf, inRanges, normalizeForwardedFor } from "./caller-address.js";

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

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2:ffff:0:0:1", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
])("the caller at %s is %s", (address, caller) => {
  expect(callerIdOf(address)).toBe(caller);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.1:51234", "192.0.2.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["[2001:DB8::1]", "2001:db8::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["[fe80::1%25eth0]:443", "fe80::1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["[::ffff:c000:201]:443", "192.0.2.1"],
  ["192.0.2.9:1,[2001:db8::1]:2 , 10.1.2.3:3", "192.0.2.9, 2001:db8::1, 10.1.2.3"],
])("%s becomes %s", (header, plain) => {
  expect(normalizeForwardedFor(header)).toBe(plain);
});

test.each(["", "unknown", "_hidden", "192.0.2", "192.0.2.1:", "[192.0.2.1", "2001:db8:1:2:3:4:5:6:443"])(
  "an entry without an address (%j) and those before it are left out",
  (entry) => {
    expect(normalizeForwardedFor(entry)).toBe("");
    expect(normalizeForwardedFor(`192.0.2.9, ${entry}, 10.1.2.3`)).toBe("10.1.2.3");
  },
);
