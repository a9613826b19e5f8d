import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { dialByTls } from "@dataset-oracle/service/egress/connector";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { type Certificate, createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { parseUnits } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { SourceReader } from "../src/source/source-reader.js";
import { loadRecordedAnswers } from "./support/recorded-answers.js";
import { HOSTS, startTlsExchanges, type TlsExchanges } from "./support/tls-exchanges.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));
const PUBLIC = "93.184.215.14";

const authority = createCertificateAuthority();

/** Reads a pair from an exchange over TLS, by the egress of a provider, with the rules of its source file. */
async function read(name: string, pair: string, port: number, { ca = authority.cert, address = PUBLIC } = {}) {
  // The connector is the one of a provider, but for the trusted authority and where the address leads.
  const connect = dialByTls(ca);
  const dialled: string[] = [];
  const egress = new Egress({
    resolve: async () => [address],
    dial: (options, callback) => {
      dialled.push(`${options.servername} at ${options.hostname}`);
      connect({ ...options, hostname: "127.0.0.1", port: String(port) }, callback);
    },
  });
  const reader = new SourceReader({ egress, timeoutMs: 10_000, hasReserve: false, now: () => 0n });
  const query = SOURCES.get(name)?.queries.get(pair);
  if (query === undefined) throw new Error(`${name} has no ${pair}.`);
  const answer = await reader.read(query.request, false);
  await egress.close();
  return { dialled, reading: answer.ok ? query.read(answer.value.document) : answer };
}

describe("over TLS, under the exchanges' own names", () => {
  let exchanges: TlsExchanges;
  beforeAll(async () => {
    exchanges = await startTlsExchanges(authority.issue(HOSTS));
  });
  afterAll(() => exchanges.close());

  it.each(EXCHANGES)("%s has its exact recorded prices", async (name) => {
    const [answer] = loadRecordedAnswers(name).answers;
    expect(answer).toBeDefined();
    const quotedAt = answer?.quotedAt == null ? null : BigInt(answer.quotedAt);
    for (const [pair, price] of Object.entries(answer?.prices ?? {})) {
      const { reading, dialled } = await read(name, pair, exchanges.port);
      expect(reading).toEqual({ ok: true, value: { value: parseUnits(price, 18), quotedAt } });
      expect(dialled).toEqual([`${new URL(EXCHANGE_ORIGINS[name] ?? "").host} at ${PUBLIC}`]);
    }
    expect(exchanges.requests).toContain(
      SOURCES.get(name)?.queries.get(Object.keys(answer?.prices ?? {})[0] ?? "")?.request.url,
    );
  });

  it("nothing is connected to when a name leads to this machine", async () => {
    const { reading, dialled } = await read("kraken", "BTC-USD", exchanges.port, { address: "127.0.0.1" });
    expect(reading).toMatchObject({ error: { code: "forbidden" } });
    expect(dialled).toEqual([]);
  });
});

describe("a certificate is refused", () => {
  const wrong: [what: string, reason: string, certificate: () => Certificate][] = [
    ["of another name", "ERR_TLS_CERT_ALTNAME_INVALID", () => authority.issue(["api.example.com"])],
    ["that has expired", "CERT_HAS_EXPIRED", () => authority.issue(HOSTS, -1)],
    ["of an unknown authority", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", () => createCertificateAuthority().issue(HOSTS)],
  ];
  it.each(wrong)("%s, and nothing is sent, whatever the environment says", async (_, reason, certificate) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const exchanges = await startTlsExchanges(certificate());
    try {
      const { reading } = await read("kraken", "BTC-USD", exchanges.port);
      expect(reading).toMatchObject({ ok: false, error: { code: "unreachable", detail: reason } });
      expect(exchanges.requests).toEqual([]);
    } finally {
      await exchanges.close();
    }
  });
});
