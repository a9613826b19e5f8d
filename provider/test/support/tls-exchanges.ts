import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import type { Certificate } from "@dataset-oracle/tools/certificates";
import { loadRecordedAnswers, type RecordedExchangeAnswer } from "./recorded-answers.js";

/** The names of the exchanges' hosts. */
export const HOSTS = Object.values(EXCHANGE_ORIGINS).map((origin) => new URL(origin).host);

const EXCHANGE_OF = new Map(Object.entries(EXCHANGE_ORIGINS).map(([name, origin]) => [new URL(origin).host, name]));

/** Stands in for the exchanges on loopback, over TLS, under their own names. */
export interface TlsExchanges {
  readonly port: number;
  /** Every request that came, as `https://<host><path>`. */
  readonly requests: string[];
  close(): Promise<void>;
}

/**
 * Starts a server that answers with what was recorded of the exchange in the Host header: of Coinbase the answer for
 * the requested pair, of others the first.
 *
 * @param isCurrent Replaces the times in the answers with the current time.
 */
export async function startTlsExchanges(certificate: Certificate, isCurrent = false): Promise<TlsExchanges> {
  const requests: string[] = [];
  const server = createServer(certificate, (request, response) => {
    const { host = "" } = request.headers;
    const path = request.url ?? "";
    requests.push(`https://${host}${path}`);
    const name = EXCHANGE_OF.get(host);
    const answer = name === undefined ? undefined : findAnswer(loadRecordedAnswers(name).answers, path);
    response.setHeader("content-type", "application/json");
    if (answer === undefined) response.writeHead(404).end('{"message":"NotFound"}');
    else response.end(isCurrent ? withTime(answer.body, new Date()) : answer.body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Only Coinbase is asked for one pair at a time, as `/products/BTC-USD/ticker`. */
function findAnswer(answers: readonly RecordedExchangeAnswer[], path: string): RecordedExchangeAnswer | undefined {
  const pair = /^\/products\/([^/]+)\/ticker$/.exec(path)?.[1];
  return answers.find(({ prices }) => pair === undefined || Object.hasOwn(prices, pair));
}

/** Replaces a time, in whatever form the exchanges write it. */
function withTime(body: string, now: Date): string {
  return body
    .replace(/"time":"[^"]+"/, `"time":"${now.toISOString()}"`)
    .replace(/"time":\d+/, `"time":${now.getTime()}`)
    .replace(/"ts":"\d+"/, `"ts":"${now.getTime()}"`)
    .replace(/"timestamp":"\d+"/, `"timestamp":"${Math.floor(now.getTime() / 1_000)}"`);
}
