import type { App } from "@dataset-oracle/service/http-server/app";
import { RATE_HEADERS } from "@dataset-oracle/service/http-server/openapi";
import { Type } from "@sinclair/typebox";
import type { Alert } from "../alerts/alert.js";
import type { Operator } from "../operator.js";
import { LIMITED_PROBLEMS } from "./problem-responses.js";

const schema = {
  tags: ["data"],
  operationId: "readAlerts",
  summary: "Lists what went wrong with the feeds lately, as an Atom feed.",
  description:
    "There is an entry each time a feed becomes stale (not updated within one and a half heartbeats), its providers " +
    "disagree, or it recovers: the last 100 since the operator started. The category of an entry is `stale`, " +
    "`disagreement` or `recovered`.",
  response: {
    200: {
      description: "The feed (RFC 4287).",
      headers: RATE_HEADERS,
      content: { "application/atom+xml": { schema: Type.String() } },
    },
    ...LIMITED_PROBLEMS,
  },
};

/** Adds `GET /alerts`, for feed readers. Its rate limit is its own, so that a reader uses up no data requests. */
export function addAlerts(app: App, { alerts, clock }: Operator, requestsPerMinute: number): void {
  const startedAt = Math.floor(clock() / 1000);
  const config = { rate: { name: "alerts", perMinute: requestsPerMinute } };
  app.get("/alerts", { schema, config }, async (_, reply) => {
    reply.type("application/atom+xml; charset=utf-8");
    return toAtom(alerts, startedAt);
  });
}

/**
 * Writes alerts as an Atom feed.
 *
 * @param startedAt The time of the feed as long as it has no entry, in seconds since 1970.
 */
export function toAtom(alerts: readonly Alert[], startedAt: number): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    "<title>Alerts of a Dataset Oracle operator</title>",
    "<id>urn:uuid:5d0b4cfe-5ac9-8d9e-8a5a-6f1c33a1f0d2</id>",
    "<author><name>Dataset Oracle operator</name></author>",
    `<updated>${iso(alerts[0]?.time ?? startedAt)}</updated>`,
    ...alerts.map(toEntry),
    "</feed>",
    "",
  ].join("\n");
}

function toEntry({ id, event, title, time, status, timestamp, ...alert }: Alert): string {
  const stored =
    `Network ${alert.network_id}, dataset ${alert.dataset}, key ${alert.key_hex}: status ${status} at round ` +
    `${timestamp}.`;
  return [
    "<entry>",
    `<id>urn:uuid:${id}</id>`,
    `<title>${escaped(title)}</title>`,
    `<updated>${iso(time)}</updated>`,
    `<category term="${event}"/>`,
    `<content type="text">${escaped(stored)}</content>`,
    "</entry>",
  ].join("");
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** A key can contain any printable character. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
