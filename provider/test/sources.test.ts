import { gzipSync } from "node:zlib";
import type { ReportAnswer } from "@dataset-oracle/protocol/http-schemas/reports";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Behaviour,
  coinbaseTicker,
  type FakeExchanges,
  json,
  startFakeExchanges,
} from "./support/fake-exchanges.js";
import { ACCOUNT, reportOf, startProvider, type TestProvider, wireValue } from "./support/test-provider.js";

const JSON_TYPE = { "content-type": "application/json" };

let exchanges: FakeExchanges;
let provider: TestProvider;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
  provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins });
});
afterAll(async () => {
  await provider.close();
  await exchanges.close();
});
beforeEach(() => {
  exchanges.quote("2000", "2002", "2001");
  // A reading is shared until its second is over.
  provider.clock.now += 1;
});

const e18 = (price: bigint) => wireValue(price * 10n ** 18n);

/** Returns the sources that an answer does not use, each with the reason's code. */
const failuresIn = ({ sources = [] }: Partial<ReportAnswer>) =>
  sources.flatMap(({ name, reason }) => (reason === null ? [] : [`${name} ${reason.replace(/:.*/, "")}`]));

const HUGE = `{"price":"1","padding":"${"x".repeat(1024 * 1024)}"}`;

describe("a source that", () => {
  it.each<[what: string, failure: string, behaviour: Behaviour]>([
    ["answers HTTP 500 with a valid ticker", "http_status", json(coinbaseTicker("9"), 500)],
    ["answers HTTP 201 with a valid ticker", "http_status", json(coinbaseTicker("9"), 201)],
    ["answers HTTP 429", "throttled", json('{"message":"Too many requests"}', 429)],
    ["answers half of its JSON", "not_json", json('{"price":"9"')],
    [
      "answers bytes that are not UTF-8",
      "not_text",
      (r) => r.writeHead(200, JSON_TYPE).end(Buffer.of(0x22, 0xff, 0x22)),
    ],
    [
      "breaks off in the middle",
      "unreachable",
      (r) => r.writeHead(200, { ...JSON_TYPE, "content-length": "99" }).write("{}", () => r.destroy()),
    ],
    ["starts in time and never ends", "timeout", (r) => void r.writeHead(200, JSON_TYPE).write("{")],
    [
      "answers more than 1 MiB once decompressed",
      "too_large",
      (r) => r.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" }).end(gzipSync(HUGE)),
    ],
    ["leaves the price out", "no_node", json('{"trade_id":1}')],
    ["answers a price in words", "not_a_number", json('{"price":"nine"}')],
    ["answers a price that rounds to 0", "zero", json(coinbaseTicker("1e-30"))],
    ["answers a negative price", "negative", json('{"price":"-9"}')],
    ["answers 1e400", "number_too_large", json('{"price":1e400}')],
    ["omits the time of its quote", "no_quote_time", json('{"price":"2000","bid":"1999","ask":"2001"}')],
  ])("%s does not count, and the answer says why: %s", async (_, failure, behaviour) => {
    exchanges.behave("coinbase", behaviour);
    const { status, body } = await provider.ask();
    // Of the two that are left, the lower.
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "OK", value: e18(2001n) });
    expect(failuresIn(body)).toEqual([`coinbase ${failure}`]);
  });

  it("redirects is not followed", async () => {
    exchanges.requests.length = 0;
    exchanges.behave("coinbase", (response) => response.writeHead(302, { location: "/coinbase/other" }).end());
    expect(failuresIn((await provider.ask()).body)).toEqual(["coinbase redirected"]);
    const asked = exchanges.requests.filter((url) => url.startsWith("/coinbase"));
    expect(asked).toEqual(["/coinbase/products/ETH-USD/ticker"]);
  });
});

describe("when too few sources answer", () => {
  it("the provider signs that there is no data, with a zero value, and tries again for the next round", async () => {
    exchanges.behave("coinbase", (response) => response.destroy());
    exchanges.behave("bitstamp", json("{}", 503));
    const { status, body, text } = await provider.ask();
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
    expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
    expect(failuresIn(body)).toEqual(["bitstamp http_status", "coinbase unreachable"]);

    exchanges.quote("2000", "2002", "2001");
    // The round that was signed stays as it was signed.
    expect((await provider.ask()).text).toBe(text);
    provider.clock.now += 1;
    expect((await provider.ask()).body).toMatchObject({ outcome: "OK", value: e18(2001n) });
  });
});
