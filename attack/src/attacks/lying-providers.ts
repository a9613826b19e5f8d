import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Account, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { type Outcome, signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Attack } from "../attack.js";
import { PRICE_KEYS, priceKey } from "../network/network.js";

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const member = privateKeyToAccount((PROVIDERS[0] as Account).privateKey);
const stranger = privateKeyToAccount(generatePrivateKey());

/** What an operator posts to `/report`. */
interface AskedReport {
  readonly network_id: number;
  readonly dataset: Address;
  readonly key: Hex;
  readonly timestamp: number;
}

interface Changed extends Partial<AskedReport> {
  readonly account?: typeof member;
  readonly outcome?: Outcome;
  readonly value?: bigint;
}

async function signed(asked: AskedReport, { account = member, outcome = "OK", value = 1n, ...changed }: Changed = {}) {
  const about = { ...asked, ...changed };
  const word = numberToHex(value, { size: 32 });
  const report = {
    chainId: about.network_id,
    dataset: about.dataset,
    key: about.key,
    round: BigInt(about.timestamp),
    outcome,
    value: word,
  };
  const signature = await signReport(account, report);
  return { ...about, provider: member.address, outcome, value: word, signature };
}

const withHighS = (report: Awaited<ReturnType<typeof signed>>) => {
  const s = numberToHex(SECP256K1_ORDER - BigInt(`0x${report.signature.slice(66, 130)}`), { size: 32 });
  return {
    ...report,
    signature: `${report.signature.slice(0, 66)}${s.slice(2)}${report.signature.endsWith("1b") ? "1c" : "1b"}`,
  };
};

type ProviderLie = (asked: AskedReport, response: ServerResponse) => unknown;

const send =
  (make: (asked: AskedReport) => Promise<object>): ProviderLie =>
  async (asked, response) =>
    void response.end(JSON.stringify(await make(asked)));

/** The answers of one dishonest member, by name. */
const LIES: Record<string, ProviderLie> = {
  "a value far too low": send((asked) => signed(asked, { value: 1n })),
  "a value far too high": send((asked) => signed(asked, { value: 2n ** 208n - 1n })),
  "a value that is too large": send((asked) => signed(asked, { value: 2n ** 255n })),
  "that there is no value": send((asked) => signed(asked, { outcome: "NOT_AVAILABLE", value: 0n })),
  "NOT_AVAILABLE with a value": send((asked) => signed(asked, { outcome: "NOT_AVAILABLE", value: 5n })),
  "another signer's report": send((asked) => signed(asked, { account: stranger })),
  "a report of another round": send((asked) => signed(asked, { timestamp: asked.timestamp - 1 })),
  "a report of another round, labelled as this one": send(async (asked) => ({
    ...(await signed(asked, { timestamp: asked.timestamp - 1 })),
    timestamp: asked.timestamp,
  })),
  "a report of another key": send((asked) => signed(asked, { key: "0x00" })),
  "another chain's report": send(async (asked) => ({
    ...(await signed(asked, { network_id: 1 })),
    network_id: asked.network_id,
  })),
  "a value that it did not sign": send(async (asked) => ({
    ...(await signed(asked)),
    value: numberToHex(7n, { size: 32 }),
  })),
  "a malleated signature": send(async (asked) => withHighS(await signed(asked))),
  "a short signature": send(async (asked) => ({ ...(await signed(asked)), signature: "0x00" })),
  "a signature of zeros": send(async (asked) => ({ ...(await signed(asked)), signature: `0x${"00".repeat(65)}` })),
  "a closed connection": (_, response) => response.destroy(),
  "no answer at all": () => {},
  "slowly, without end": async (_, response) => {
    while (!response.destroyed) {
      response.write(" ");
      await sleep(100);
    }
  },
  "a hundred megabytes": async (_, response) => {
    for (let i = 0; i < 100 && !response.destroyed; i++) {
      if (!response.write(" ".repeat(1_000_000)))
        await Promise.race([once(response, "drain"), once(response, "close")]);
    }
    response.end("{}");
  },
  "not JSON": (_, response) => response.end("<html>"),
  "JSON of another form": (_, response) => response.end('{"value":1}'),
  "deep JSON": (_, response) => response.end("[".repeat(50_000)),
  "a redirect": (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
  "an error": (_, response) => response.writeHead(500).end("{}"),
  "unterminated headers": (_, response) => response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`),
  "not HTTP": (_, response) => response.socket?.end("hello\r\n\r\n"),
  "a wrong content-length": (_, response) => response.socket?.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{}"),
};

export const lyingProviders: Attack = {
  name: "lying-providers",
  breach: "one dishonest member of four moves a value out of the range of the honest ones, or takes it away",
  isFast: false,
  async run(network, tally) {
    let lie: ProviderLie = () => {};
    const liar = await startLocalServer(async (request, response) => {
      response.on("error", () => {});
      response.setHeader("content-type", "application/json");
      const asked = JSON.parse(await text(request));
      await lie(asked, response);
    });
    const { url } = network.own(liar);
    const providers = network.providers.map((provider, i) => (i === 0 ? { address: member.address, url } : provider));
    const operator = await network.startOperator(
      { providerTimeoutMs: 3_000, graceMs: 200 },
      { requestsPerMinute: 1_000 },
      { providers },
    );
    // The honest providers may have just started, and their first answers take longer.
    for (const key of PRICE_KEYS.slice(0, 3)) await network.update(network.operator, { key });
    for (const [i, [name, answer]] of Object.entries(LIES).entries()) {
      lie = answer;
      tally.attempt();
      const key = priceKey(i);
      const { status, json, text: said } = await network.update(operator, { key });
      if (status !== 200 || json.status !== "OK") {
        tally.breach(`${name}: ${status} ${said}`);
        continue;
      }
      const honest = json.reports
        .filter(({ provider }: { provider: Address }) => provider !== member.address)
        .map(({ value }: { value: Hex }) => BigInt(value));
      const sorted: bigint[] = honest.toSorted((a: bigint, b: bigint) => (a < b ? -1 : 1));
      const value = BigInt(json.value);
      const [lowest = 0n, highest = 0n] = [sorted[0], sorted.at(-1)];
      if (sorted.length < 3 || value < lowest || value > highest) tally.breach(`${name}: ${said}`);
    }
  },
};
