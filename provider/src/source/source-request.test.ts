import { expect, test } from "vitest";
import { unlimitedIfRedirected } from "./source-request.js";

const KRAKEN = "https://api.kraken.com";

test("a request is unlimited if its own origin is redirected", () => {
  const rateLimit = { perSecond: 1, burst: 1 };
  const request = { method: "GET", url: `${KRAKEN}/0/public/Ticker?pair=ETHUSD`, rateLimit } as const;
  expect(unlimitedIfRedirected({ [KRAKEN]: "http://127.0.0.1:9000/kraken" }, request)).toEqual({
    ...request,
    rateLimit: null,
  });
  expect(unlimitedIfRedirected({ "https://api.example.com": "http://127.0.0.1:9000" }, request)).toBe(request);
});
