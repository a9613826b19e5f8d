import type { ReportAnswer } from "@dataset-oracle/protocol/http-schemas/reports";
import { recoverReporter, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { describe, expect, test } from "vitest";
import { coinbaseTicker, type ExchangeBehaviour, json } from "./support/fake-exchanges.js";
import { ACCOUNT, reportOf, wireValue } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const { exchanges, provider } = await useExchangesAndProvider("2000", "2002", "2001");
const PRICE = wireValue(2_001n * 10n ** 18n);
const JSON_TYPE = { "content-type": "application/json" };

/** Returns the sources that an answer does not use, each with the reason's code. */
const failuresIn = ({ sources = [] }: Partial<ReportAnswer>) =>
  sources.flatMap(({ name, reason }) => (reason === null ? [] : [`${name} ${reason.replace(/:.*/, "")}`]));

describe("a source that", () => {
  test.each<[what: string, failure: string, behaviour: ExchangeBehaviour]>([
    ["answers HTTP 500 with a valid ticker", "http_status", json(coinbaseTicker("9"), 500)],
    ["answers half of its JSON", "not_json", json('{"price":"9"')],
    [
      "answers bytes that are not UTF-8",
      "not_text",
      (response) => response.writeHead(200, JSON_TYPE).end(Buffer.of(0x22, 0xff, 0x22)),
    ],
    [
      "breaks off in the middle",
      "unreachable",
      (response) =>
        response.writeHead(200, { ...JSON_TYPE, "content-length": "99" }).write("{}", () => response.destroy()),
    ],
    ["leaves the price out", "no_node", json('{"trade_id":1}')],
    ["answers a price that rounds to 0", "zero", json(coinbaseTicker("1e-30"))],
    ["omits the time of its quote", "no_quote_time", json('{"price":"2000","bid":"1999","ask":"2001"}')],
  ])("%s does not count, and the answer says why: %s", async (_, failure, behaviour) => {
    exchanges.behave("coinbase", behaviour);
    const { status, body } = await provider.ask();
    // Of the two that are left, the lower.
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: "OK", value: PRICE });
    expect(failuresIn(body)).toEqual([`coinbase ${failure}`]);
  });
});

test("when too few sources answer, the provider signs that there is no data, and tries again for the next round", async () => {
  exchanges.behave("coinbase", (response) => response.destroy());
  exchanges.behave("bitstamp", json("{}", 503));
  const { status, body, text } = await provider.ask();
  expect({ status, ...body }).toMatchObject({ status: 200, outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
  expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
  expect(failuresIn(body)).toEqual(["bitstamp http_status", "coinbase unreachable"]);

  exchanges.quote("2000", "2002", "2001");
  // The round that was signed stays as it was signed.
  expect((await provider.ask()).text).toBe(text);
  provider.clock.now += 1;
  expect((await provider.ask()).body).toMatchObject({ outcome: "OK", value: PRICE });
});
