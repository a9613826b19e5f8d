import { once, setMaxListeners } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { pino } from "pino";
import { Histogram } from "prom-client";
import { type Address, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Behavior, type StubProvider, startProviders } from "../../test/support/stub-providers.js";
import type { Dataset } from "../dataset/dataset.js";
import { ProviderFailures } from "./failures.js";
import { ProviderUrls } from "./provider-urls.js";
import { GuardedHttp, Providers } from "./providers.js";
import { decideByQuorum } from "./quorum.js";
import { ReportSource } from "./report-source.js";

/** What real servers answer in place of a report, and what becomes of the others' reports. */

const DATASET: Address = "0x1111111111111111111111111111111111111111";
const NETWORK = 42;
/** Seconds since 1970. */
const ROUND = 1_790_000_000n;
const closing = new AbortController();
// Each test has connections of its own, which end with it.
setMaxListeners(0, closing.signal);

let providers: StubProvider[];
let counter = 0;

beforeAll(async () => {
  providers = await startProviders(4);
});

afterEach(() => behave());

afterAll(async () => {
  closing.abort();
  await Promise.all(providers.map((provider) => provider.close()));
});

function behave(...behaviors: Behavior[]): void {
  for (const [i, provider] of providers.entries()) provider.behavior = behaviors[i] ?? "honest";
}

/** Asks all providers, and returns their answers in the committee's order. */
function gather(urls = providers.map(({ url }) => url), settings = { providerTimeoutMs: 20_000, graceMs: 20_000 }) {
  const logger = pino({ level: "silent" });
  const digests = new FastReportDigests(NETWORK, DATASET, keccak);
  const dataset = { chainId: NETWORK, address: DATASET, maxValue: 2n ** 208n - 1n, digests } as Dataset;
  const members = providers.map(({ address }) => address);
  const labelNames = ["network", "provider", "outcome"] as const;
  const asked = new Providers(
    NETWORK,
    new ProviderUrls(logger, new Map(members.map((member, i) => [member, urls[i] ?? ""]))),
    new ProviderFailures({ clock: SYSTEM_CLOCK, logger }),
    new GuardedHttp(
      { closing: closing.signal, dispatcher: TRUSTED_CONNECTIONS },
      { configured: new Set(urls), allowsLocal: false },
    ),
    new Histogram({ name: "durations", help: "Durations.", labelNames, registers: [] }),
    SYSTEM_CLOCK,
  );
  const source = new ReportSource(dataset, asked, { clock: SYSTEM_CLOCK, closing: closing.signal }, settings);
  const key = stringToHex(`SPOTPX/T${counter++}-USD`);
  return source.gatherReports(key, ROUND, { members, toleranceBps: 100n }, null, () => {});
}

const reasons = (answers: Awaited<ReturnType<typeof gather>>) =>
  answers.map((answer) => (answer.kind === "failure" ? answer.reason : answer.outcome));

test.each<[Behavior, string]>([
  ["garbage", "invalid_report"],
  ["no data with a value", "invalid_report"],
  ["wrong signer", "wrong_signer"],
  ["high s", "wrong_signer"],
  ["another provider", "other_report"],
  ["another round", "other_report"],
  ["huge value", "value_too_large"],
  ["closes the connection", "unreachable"],
  ["oversized", "too_large"],
  ["redirects", "redirected"],
  ["server error", "refused"],
  ["busy source", "source_busy"],
])("%s: its provider fails with %s, and no other", async (behavior, reason) => {
  behave(behavior, "honest", "honest", behavior);
  const answers = await gather();
  expect(reasons(answers)).toEqual([reason, "OK", "OK", reason]);
  expect(decideByQuorum(4, answers).kind).toBe("no_quorum");
});

test.each<[sources: unknown, reason: string | undefined]>([
  [[{ name: "/sources/0", reason: "unreachable: no such host", used: false }], "/sources/0: unreachable: no such host"],
  [
    [
      { name: "a", reason: "too_old" },
      { name: "b", reason: null },
      { name: "c", reason: "zero" },
    ],
    "a: too_old; c: zero",
  ],
  [[{ name: "\u001b[31ma\n", reason: "\u202eé" }], "?[31ma?: ??"],
  [[{ name: "a", reason: "x".repeat(10_000) }], `a: ${"x".repeat(197)}`],
  [[{ name: "a", reason: null }], undefined],
  [undefined, undefined],
  ["down", undefined],
  [[null], undefined],
  [[{ name: "a", reason: { toString: 1 } }], undefined],
])("why a provider has no value is passed on, cut and in printable ASCII: %j", async (sources, reason) => {
  behave("no data", "no data", "no data");
  for (const provider of providers) provider.sources = sources;
  const answers = await gather();
  for (const provider of providers) provider.sources = undefined;
  expect(reasons(answers)).toEqual(["NOT_AVAILABLE", "NOT_AVAILABLE", "NOT_AVAILABLE", "OK"]);
  const passedOn = answers.map((answer) => (answer.kind === "report" ? answer.reason : null));
  expect(passedOn).toEqual([reason, reason, reason, undefined]);
});

test("a provider that hangs fails with timeout", async () => {
  behave("hangs", "hangs", "hangs", "hangs");
  const answers = await gather(undefined, { providerTimeoutMs: 50, graceMs: 50 });
  expect(reasons(answers)).toEqual(["timeout", "timeout", "timeout", "timeout"]);
});

test("a certificate that is refused is named, and fails only its own provider", async () => {
  const secure = createServer(createCertificateAuthority().issue(["localhost"], -1)).listen(0);
  await once(secure, "listening");
  onTestFinished(() => void secure.close());
  const [, ...others] = providers.map(({ url }) => url);
  const answers = await gather([`https://localhost:${(secure.address() as AddressInfo).port}`, ...others]);
  expect(reasons(answers)).toEqual(["certificate", "OK", "OK", "OK"]);
});

test("an invalid endpoint fails only its own provider", async () => {
  const [, ...others] = providers.map(({ url }) => url);
  expect(reasons(await gather(["http://provider.example:99999", ...others]))).toEqual(["unexpected", "OK", "OK", "OK"]);
});

test("after a quorum, a slower provider is waited for as long as the grace period, and no longer", async () => {
  behave("honest", "honest", "honest", "slow");
  expect(reasons(await gather())).toEqual(["OK", "OK", "OK", "OK"]);
  behave("honest", "honest", "honest", "hangs");
  const answers = await gather(undefined, { providerTimeoutMs: 60_000, graceMs: 50 });
  expect(reasons(answers)).toEqual(["OK", "OK", "OK", "late"]);
  expect(decideByQuorum(4, answers)).toMatchObject({ kind: "update", outcome: "OK", reports: { length: 3 } });
});
