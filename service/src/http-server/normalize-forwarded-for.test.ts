import { expect, test } from "vitest";
import { normalizeForwardedFor } from "./normalize-forwarded-for.js";

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
