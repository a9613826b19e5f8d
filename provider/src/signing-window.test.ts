import { expect, it } from "vitest";
import { judgeWindow } from "./signing-window.js";

const NOW = 1_800_000_000n;

it("takes rounds from 10 s behind the clock to 2 s ahead of it, both included", () => {
  expect(judgeWindow(NOW - 11n, NOW)).toBe("too_old");
  expect(judgeWindow(NOW - 10n, NOW)).toBe("in_window");
  expect(judgeWindow(NOW, NOW)).toBe("in_window");
  expect(judgeWindow(NOW + 2n, NOW)).toBe("in_window");
  expect(judgeWindow(NOW + 3n, NOW)).toBe("in_future");
});
