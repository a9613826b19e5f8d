import { expect, test, vi } from "vitest";
import { hasBrowser } from "./skip-without-browser.js";

test("a missing browser skips the tests and says so; in CI it is a failure", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  expect(hasBrowser(null, false)).toBe(false);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("skipped. Chromium is missing. Install it"));
  warn.mockRestore();
  expect(() => hasBrowser(null, true)).toThrow("Chromium is missing.");
  expect(hasBrowser("/usr/bin/chromium", true)).toBe(true);
});
