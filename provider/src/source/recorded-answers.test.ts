import { EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { ok } from "@dataset-oracle/protocol/result";
import { parseUnits } from "viem";
import { describe, expect, test } from "vitest";
import { loadRecordedAnswers } from "../../test/support/recorded-answers.js";
import { judgeAnswer } from "./judge-answer.js";
import { loadSources, SHIPPED_SOURCES } from "./load-sources.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

function queryOf(name: string, pair: string) {
  const query = SOURCES.get(name)?.queries.get(pair);
  if (query === undefined) throw new Error(`${name} has no ${pair}.`);
  return query;
}

/** Judges an answer of an exchange as the provider does. */
function judge(name: string, pair: string, status: number, text: string) {
  const { request, read } = queryOf(name, pair);
  const http = { status, contentType: "application/json", retryAfter: null, text };
  const answer = judgeAnswer(ok(http), 0, request.source.findError);
  return answer.ok ? read(answer.value.document) : answer;
}

describe.each(EXCHANGES)("%s", (name) => {
  const { answers, errors } = loadRecordedAnswers(name);

  const prices = answers.flatMap(({ from, body, prices, quotedAt }) =>
    Object.entries(prices).map(([pair, price]) => ({ from, body, pair, price, quotedAt })),
  );
  test.each(prices)("has the price $price of $pair in the answer of $from", ({ body, pair, price, quotedAt }) => {
    expect(judge(name, pair, 200, body)).toEqual({
      ok: true,
      value: { value: parseUnits(price, 18), quotedAt: quotedAt === null ? null : BigInt(quotedAt) },
    });
  });

  test.each(errors)("means $outcome by HTTP $status and $body", ({ status, body, outcome, says }) => {
    const [pair = ""] = SOURCES.get(name)?.spec.pairs ?? [];
    const reading = judge(name, pair, status, body);
    expect(reading).toMatchObject({ ok: false, error: { code: outcome, detail: expect.stringContaining(says) } });
  });
});
