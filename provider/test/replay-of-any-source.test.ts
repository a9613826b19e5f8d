import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { err, ok } from "@dataset-oracle/protocol/result";
import type { EgressResult } from "@dataset-oracle/service/untrusted/egress";
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { toDecision } from "../src/decisions/decision-memory.js";
import { EvidenceStore } from "../src/evidence/evidence-store.js";
import type { ServedDataPoint } from "../src/keys/served-keys.js";
import { judgeAnswer } from "../src/source/judge-answer.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { RecordingReader } from "../src/source/recording-reader.js";
import { notAsked } from "../src/source/source-failure.js";
import { type FileRequest, requestId } from "../src/source/source-request.js";
import { compileSpotSource, type SpotSource, type SpotSourceSpec } from "../src/source/spot-source.js";
import { readSpotPrice, sourcesOfPair } from "../src/value/spot-price.js";
import { replayAll, segmentsIn } from "./support/evidence.js";
import { loadRecordedAnswers } from "./support/recorded-answers.js";

const AT = 1_800_000_000n;
const CALLER = { id: "198.51.100.7", mayUseReserve: true };

/** Decides a pair's price, and replays it from its evidence; null when nothing is decided. */
async function decideAndReplay(
  pair: string,
  sources: readonly SpotSource[],
  answerOf: (request: FileRequest) => EgressResult | "unknown",
  { minSources = 1, at = AT } = {},
) {
  const policy = { minSources, maxDeviationBps: 200, maxQuoteAge: 60 };
  const asked = sourcesOfPair(pair, sources, minSources);
  const reader = new RecordingReader({
    read: async (request: FileRequest) => {
      const answer = answerOf(request);
      return answer === "unknown"
        ? notAsked("its rate limit is used up", 1)
        : judgeAnswer(answer, 0, request.source.findError);
    },
  } as never);
  const value = await readSpotPrice(asked, { reader, caller: CALLER, policy, at });
  if (value.kind === "busy") return null;
  const folder = mkdtempSync(join(tmpdir(), "replay-"));
  try {
    const logger = pino({ level: "silent" });
    const store = await EvidenceStore.open(logger, { folder, maxBytes: 2 ** 24, policy, redirectedOrigins: {} });
    const dataPoint: ServedDataPoint = {
      id: pair,
      dataset: { chainId: 42, address: `0x${"ab".repeat(20)}`, kind: "median" } as ServedDataPoint["dataset"],
      key: { kind: "spot_price", key: spotPriceKey(pair), name: pair, sources: asked },
    };
    const decision = toDecision(value.kind === "value" ? value.value : null);
    store.keep({ dataPoint, value, at, answers: reader.answers }, at, decision);
    await store.close();
    const [again] = await replayAll(...segmentsIn(folder));
    return { isSame: again?.isSame, kind: value.kind, value, again: again?.value };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const http = (text: string, status = 200): EgressResult =>
  ok({ status, contentType: "application/json", retryAfter: null, text });

describe("evidence is replayed to the same decision", () => {
  const SOURCES = loadSources([SHIPPED_SOURCES]);
  const recorded = EXCHANGES.flatMap((name) =>
    loadRecordedAnswers(name).answers.flatMap(({ from, body, prices, quotedAt }) =>
      Object.keys(prices).map((pair) => ({ name, from, body, pair, quotedAt })),
    ),
  );

  /** The answers that have a rate to convert by. */
  const RATES = new Map(
    EXCHANGES.flatMap((name) => {
      const answer = loadRecordedAnswers(name).answers.find(({ prices }) => "USDT-USD" in prices);
      return answer === undefined ? [] : [[name as string, answer.body] as const];
    }),
  );

  test.each(recorded)("for $pair of $name, as $from has it", async ({ name, body, pair, quotedAt }) => {
    const answerOf = ({ source }: FileRequest) => http(source.name === name ? body : (RATES.get(source.name) ?? "{}"));
    const at = quotedAt === null ? AT : BigInt(quotedAt);
    for (const sources of [SOURCES, SOURCES.toReversed()]) {
      const replayed = await decideAndReplay(pair, sources, answerOf, { at });
      expect(replayed?.isSame).toBe(true);
      expect(replayed?.again).toEqual(replayed?.value);
    }
  });

  const PAIRS = ["ETH-USD", "BTC-USD", "USDT-USD", "ETH-EUR"] as const;
  const price = fc.constantFrom("1", "0.985", "1.001", "0", "1e80", "-1", "x");

  /** A source file with its answer, which is the same for each of its pairs. */
  const aSource = (index: number) =>
    fc
      .record({
        letter: fc.constantFrom("a", "m", "z"),
        headers: fc.uniqueArray(fc.constantFrom("x-b", "x-a", "accept-language", "referer"), { maxLength: 4 }),
        isPosted: fc.boolean(),
        isConverted: fc.boolean(),
        hasSpread: fc.boolean(),
        quoteTime: fc.constantFrom(null, "seconds" as const, "milliseconds" as const),
        pairs: fc.uniqueArray(fc.constantFrom(...PAIRS), { minLength: 1 }),
        price,
        age: fc.constantFrom(0, 59, 61, -61),
        answer: fc.constantFrom("answers", "answers", "answers", "fails", "throttled", "http_error", "unknown"),
      })
      .map(({ letter, headers, isPosted, hasSpread, quoteTime, isConverted, pairs, price, age, answer }) => {
        const name = `${letter}-${index}`;
        const time = (Number(AT) - age) * (quoteTime === "milliseconds" ? 1_000 : 1);
        const spec: SpotSourceSpec = {
          name,
          ...{ documentation: "", terms: "", limits: "", verification: "", decimals: 18, type: "uint" },
          rateLimit: { perSecond: 1, burst: 1 },
          method: isPosted ? "POST" : "GET",
          url: `https://${name}.example.com/ticker/{base}/{quote}`,
          ...(isPosted && { body: '{"of":"{base}"}' }),
          ...(headers.length > 0 && { headers: Object.fromEntries(headers.map((header) => [header, name])) }),
          path: "$.last",
          rounding: "half-even",
          ...(hasSpread && { spread: { bid: "$.bid", ask: "$.ask" } }),
          ...(quoteTime && { quoteTime: { path: "$.time", unit: quoteTime } }),
          symbols: { case: "upper", spelling: {} },
          ...(isConverted && { convert: { USD: "USDT" } }),
          pairs: isConverted ? pairs.filter((pair) => pair !== "USDT-USD") : pairs,
        };
        const source = compileSpotSource(spec);
        if (!source.ok) throw new Error(source.error);
        return { source: source.value, answer, text: JSON.stringify({ last: price, bid: price, ask: price, time }) };
      });

  test("for any source files, in any order, with any answers", async () => {
    const counts = { same: 0, value: 0, converted: 0, undecided: 0 };
    const some = fc
      .integer({ min: 1, max: 6 })
      .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => aSource(index))));
    const property = fc.asyncProperty(
      some,
      fc.constantFrom(...PAIRS),
      fc.integer({ min: 1, max: 2 }),
      async (sources, pair, minSources) => {
        const answerOf = ({ source: { name } }: FileRequest): EgressResult | "unknown" => {
          const one = sources.find(({ source }) => source.name === name);
          if (one === undefined || one.answer === "fails") return err({ code: "timeout", detail: "no answer" });
          if (one.answer === "unknown") return "unknown";
          return http(one.text, { throttled: 429, http_error: 500 }[one.answer as string] ?? 200);
        };
        const files = sources.map(({ source }) => source);
        const replayed = await decideAndReplay(pair, files, answerOf, { minSources });
        if (replayed === null) {
          counts.undecided += 1;
          return;
        }
        expect(replayed.isSame).toBe(true);
        expect(replayed.again).toEqual(replayed.value);
        counts.same += 1;
        if (replayed.kind !== "value") return;
        counts.value += 1;
        if (sourcesOfPair(pair, files, minSources).some(({ rate }) => rate !== null)) counts.converted += 1;
      },
    );
    await fc.assert(property, { numRuns: 600, seed: 1 });
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(10);
  });

  test("shares an answer between requests whose headers are in another order", () => {
    const request = (headers: Record<string, string>) =>
      requestId({ method: "GET", url: "https://api.example.com/", headers });
    expect(request({ "x-b": "1", "x-a": "2" })).toBe(request({ "x-a": "2", "x-b": "1" }));
    expect(request({ "x-a": "1" })).not.toBe(request({ "x-a": "2" }));
  });
});
