import { expect, test } from "vitest";
import { unlimitedIfRedirected } from "./source-request.js";

test("a request is unlimited if its own origin is redirected", () => {
  const rateLimit = { perSecond: 1, burst: 1 };
  const request = { method: "GET", url: "https://api.example.org/ticker?pair=ETHUSD", rateLimit } as const;
  expect(unlimitedIfRedirected({ "https://api.example.org": "http://127.0.0.1:9000/kraken" }, request)).toEqual({
    ...request,
    rateLimit: null,
  });
  expect(unlimitedIfRedirected({ "https://api.example.com": "http://127.0.0.1:9000" }, request)).toBe(request);
});
