import { describe, expect, it, test } from "vitest";
import { checkRedirectedOrigins } from "./check-redirected-origins.js";
import { loadSources, SHIPPED_SOURCES } from "./load-sources.js";
import { unlimitedIfRedirected } from "./source-request.js";

const KRAKEN = "https://api.kraken.com";
const origins = loadSources([SHIPPED_SOURCES]).map(({ origin }) => origin);
const check = (target: string, chainIds = [42], origin = KRAKEN) =>
  checkRedirectedOrigins({ [origin]: target }, origins, chainIds);

describe("a redirected origin", () => {
  it("may lead to this machine", () => {
    for (const target of [
      "http://127.0.0.1:9000/kraken",
      "http://127.0.0.1:9000",
      "http://[::1]:9000/k",
      "http://127.9.9.9/k",
    ]) {
      expect(() => check(target)).not.toThrow();
    }
  });

  const elsewhere = [
    "https://127.0.0.1:9000/kraken",
    "http://10.0.0.1/kraken",
    "http://0.0.0.0:9000/kraken",
    "http://localhost:9000/kraken",
    "http://127.0.0.1.example.com/kraken",
    "http://127.0.0.1@example.com/kraken",
    "http://user@127.0.0.1/kraken",
    "http://169.254.169.254/",
    "http://127.0.0.1:9000/kraken/",
    "http://127.0.0.1:9000/kraken?",
    "file:///etc/passwd",
    "127.0.0.1:9000",
    "",
  ];
  for (const target of elsewhere) {
    it(`may not lead anywhere else, nor be more than a base address: ${target || "nothing"}`, () => {
      expect(() => check(target)).toThrow("Use http and a loopback IP address");
    });
  }

  it("is refused when the main network is served", () => {
    expect(() => check("http://127.0.0.1:9000/kraken", [42, 1])).toThrow("network 1 is served");
    expect(() => checkRedirectedOrigins({}, origins, [1])).not.toThrow();
  });

  it("belongs to a source", () => {
    expect(() => check("http://127.0.0.1:9000", [42], "https://api.krakn.com")).toThrow(
      "https://api.krakn.com is not the https origin of a source.",
    );
  });

  it("may be of any public origin where published specs may ask any", () => {
    const redirect = (origin: string) => () =>
      checkRedirectedOrigins({ [origin]: "http://127.0.0.1:9000" }, "any", [42]);
    expect(redirect("https://api.example.com")).not.toThrow();
    for (const origin of [
      "http://api.example.com",
      "https://api.example.com/",
      "https://127.0.0.1",
      "api.example.com",
    ]) {
      expect(redirect(origin)).toThrow("Write https:// and a host name, without a slash at the end");
    }
  });
});

test("a request is unlimited if its own origin is redirected", () => {
  const rateLimit = { perSecond: 1, burst: 1 };
  const request = { method: "GET", url: `${KRAKEN}/0/public/Ticker?pair=ETHUSD`, rateLimit } as const;
  expect(unlimitedIfRedirected({ [KRAKEN]: "http://127.0.0.1:9000/kraken" }, request)).toEqual({
    ...request,
    rateLimit: null,
  });
  expect(unlimitedIfRedirected({ "https://api.example.com": "http://127.0.0.1:9000" }, request)).toBe(request);
});
