import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import type { Certificate } from "@dataset-oracle/tools/certificates";
import { loadSources, SHIPPED_SOURCES } from "../../src/source/load-sources.js";
import { loadRecordedAnswers, type RecordedExchangeAnswer } from "./recorded-answers.js";

/** The names of the exchanges' hosts. */
export const HOSTS = Object.values(EXCHANGE_ORIGINS).map((origin) => new URL(origin).host);

const SOURCES = loadSources([SHIPPED_SOURCES]);

/** Stands in for the exchanges on loopback, over TLS, under their own names. */
export interface TlsExchanges {
  readonly port: number;
  /** Every request that came, as `https://<host><path>`. */
  readonly requests: string[];
  close(): Promise<void>;
}

/**
 * Starts a server that answers each URL with what was recorded of it.
 *
 * @param isCurrent Replaces the times in the answers with the current time.
 */
export async function startTlsExchanges(certificate: Certificate, isCurrent = false): Promise<TlsExchanges> {
  const requests: string[] = [];
  const server = createServer(certificate, (request, response) => {
    const url = `https://${request.headers.host}${request.url}`;
    requests.push(url);
    const answer = findRecordedAnswer(url);
    response.setHeader("content-type", "application/json");
    if (answer === undefined) response.writeHead(404).end('{"message":"NotFound"}');
    else response.end(isCurrent ? withTime(answer, new Date()) : answer.body);
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

/** Returns the first recorded answer with a price that is read from this URL. */
export function findRecordedAnswer(url: string): RecordedExchangeAnswer | undefined {
  const source = SOURCES.find(({ origin }) => origin === new URL(url).origin);
  if (source === undefined) return undefined;
  return loadRecordedAnswers(source.name).answers.find(({ prices }) =>
    Object.keys(prices).some((pair) => source.queries.get(pair)?.request.url === url),
  );
}

/** Replaces the time of an answer's quotes, in whatever unit the exchange writes it. */
function withTime({ body, quotedAt }: RecordedExchangeAnswer, now: Date): string {
  if (quotedAt === null) return body;
  const seconds = Math.floor(now.getTime() / 1_000);
  const iso = new Date(quotedAt * 1_000).toISOString().slice(0, -".000Z".length);
  return body
    .replace(new RegExp(`${iso}(?:\\.\\d+)?Z`, "g"), now.toISOString())
    .replace(new RegExp(`\\b${quotedAt}(\\d{3})?\\b`, "g"), (_, milliseconds) =>
      String(milliseconds === undefined ? seconds : now.getTime()),
    );
}
