import { setMaxListeners } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { pino } from "pino";
import { Histogram } from "prom-client";
import type { Address } from "viem";
import { afterAll, afterEach, expect, test } from "vitest";
import { failureScopeOf } from "../src/plugins/feeds/failure-backoff.js";
import { type Failure, isFailure, ProviderFailures } from "../src/reports/failures.js";
import { ProviderUrls } from "../src/reports/provider-urls.js";
import { GuardedHttp, Providers } from "../src/reports/providers.js";
import { NoQuorum } from "../src/reports/quorum.js";

/** How many questions of callers, or of the operator itself, one provider gets at a time. */
const PLACES = 32;
const PROVIDER: Address = "0x1111111111111111111111111111111111111111";
const closing = new AbortController();
// Each question listens to it.
setMaxListeners(0, closing.signal);

/** A provider that answers when it is told to. */
const held: ServerResponse[] = [];
let isHolding = true;
const server = createServer((request, response) => {
  request.resume();
  if (isHolding) held.push(response);
  else response.end("{}");
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  closing.abort();
  server.closeAllConnections();
  server.close();
});

function release(): void {
  isHolding = false;
  for (const response of held.splice(0)) response.end("{}");
}
afterEach(() => {
  release();
  isHolding = true;
});

function startProviders() {
  const logger = pino({ level: "silent" });
  const failures = new ProviderFailures({ clock: SYSTEM_CLOCK, logger });
  const labelNames = ["network", "provider", "outcome"] as const;
  const providers = new Providers(
    42,
    new ProviderUrls(logger, new Map([[PROVIDER, url]])),
    failures,
    new GuardedHttp(
      { closing: closing.signal, dispatcher: TRUSTED_CONNECTIONS },
      { configured: new Set([url]), allowsLocal: false },
    ),
    new Histogram({ name: "durations", help: "Durations.", labelNames, registers: [] }),
    SYSTEM_CLOCK,
  );
  const ask = (isOwn: boolean, signal: AbortSignal, timeoutMs = 20_000) =>
    providers.ask(
      {
        ...{ path: "/report", isOwn, headers: {}, body: "{}", limits: { timeoutMs, maxBytes: 1_000 } },
        read: () => ({ kind: "report" }) as const,
      },
      PROVIDER,
      signal,
    );
  return { ask, failures };
}

const kinds = (answers: readonly { readonly kind: string }[]) => [...new Set(answers.map(({ kind }) => kind))];

test("what exceeds the places of a provider waits, and is answered", async () => {
  const { ask } = startProviders();
  const asked = Promise.all(Array.from({ length: 100 }, () => ask(false, closing.signal)));
  await expect.poll(() => held.length).toBe(PLACES);
  release();
  const answers = await asked;
  expect(answers).toHaveLength(100);
  expect(kinds(answers)).toEqual(["report"]);
});

test("callers cannot take the places of feeds, nor feeds those of callers", async () => {
  const { ask } = startProviders();
  for (const isOwn of [false, true]) {
    isHolding = true;
    const many = Promise.all(Array.from({ length: 2 * PLACES }, () => ask(isOwn, closing.signal)));
    await expect.poll(() => held.length).toBe(PLACES);
    const other = ask(!isOwn, closing.signal);
    await expect.poll(() => held.length).toBe(PLACES + 1);
    held.pop()?.end("{}");
    expect((await other).kind).toBe("report");
    release();
    expect(kinds(await many)).toEqual(["report"]);
  }
});

test("a question without a place is no failure of the provider, and no silence of the committee", async () => {
  const { ask, failures } = startProviders();
  const running = Promise.all(Array.from({ length: PLACES }, () => ask(false, closing.signal)));
  await expect.poll(() => held.length).toBe(PLACES);
  const leaving = new AbortController();
  const waiting = [ask(false, leaving.signal), ask(false, closing.signal, 1)];
  leaving.abort();
  const answers = (await Promise.all(waiting)) as Failure[];
  expect(answers.map(({ reason }) => reason)).toEqual(["not_asked", "not_asked"]);
  expect(answers.every(isFailure)).toBe(true);
  expect(failures.reasonOf(PROVIDER)).toBeNull();
  expect(failureScopeOf(new NoQuorum(2, "none answered", answers))).toBe("update");
  release();
  expect(kinds(await running)).toEqual(["report"]);
});

test("only so many questions wait for a place", async () => {
  const { ask } = startProviders();
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const waiting = Array.from({ length: PLACES + 1_024 }, () => ask(false, leaving.signal));
  const answer = (await ask(false, closing.signal)) as Failure;
  expect(answer.reason).toBe("not_asked");
  leaving.abort();
  expect(kinds(await Promise.all(waiting))).toEqual(["failure"]);
});
