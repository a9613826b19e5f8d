import { DataAnswer, DataRequest } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { App } from "@dataset-oracle/service/http-server/app";
import { callerIdOf } from "@dataset-oracle/service/http-server/caller-address";
import { eventStream, streamedAnswer } from "@dataset-oracle/service/http-server/event-stream";
import { RATE_HEADERS } from "@dataset-oracle/service/http-server/openapi";
import { rateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import { Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { ProgressListener } from "../single-flight.js";
import { MAX_MINING_WAIT_MS } from "../update/answers.js";
import { toDataAnswer } from "./data-answer.js";
import { findDataPoint, type RequestedDataPoint } from "./find-data-point.js";
import { problemsOf } from "./problem-responses.js";
import { invalidMember, tooManyBroadcasts } from "./problems.js";

/** Anonymous callers choose the keys. A key has at most 256 bytes, so this many take up at most about 20 MB. */
const MAX_REMEMBERED = 10_000;

const EVENTS = [
  ["asked", { timestamp: 1_790_000_000, providers: ["0x..."] }],
  ["report", { provider: "0x...", outcome: "OK", received: 1, of: 1 }],
  ["answer", { network_id: 42, dataset: "0x...", status: "OK" }],
]
  .map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  .join("");

const schema = {
  tags: ["data"],
  operationId: "requestUpdate",
  summary: "Updates a data point.",
  description:
    "By default the answer is JSON. With `Accept: text/event-stream` it is a stream of events, and then its status is 200 " +
    "even if the last event is a `problem`. Broadcasts have a rate limit of their own, in " +
    "addition to the one on all requests.",
  headers: Type.Object({
    prefer: Type.Optional(
      Type.String({
        description:
          "`wait=N`: a broadcast is answered when it is mined, or after N seconds (at most 60) with what is known then. " +
          "A `wait` without a whole number is a `bad_request`; other preferences are ignored.",
        examples: ["wait=10"],
      }),
    ),
  }),
  body: DataRequest,
  response: {
    200: {
      ...streamedAnswer(
        "The value that is stored, or is about to be.",
        DataAnswer,
        "`asked`, `report` for each provider, and with `broadcast: true` `signed`, `sent` and `mined`",
        EVENTS,
      ),
      headers: {
        ...RATE_HEADERS,
        "Preference-Applied": Type.String({ description: "The wait that was applied, if one was preferred." }),
      },
    },
    ...problemsOf("requestUpdate"),
  },
};

/**
 * Adds `POST /data/request`. A broadcast is counted against its rate limit before any provider or RPC endpoint is
 * asked. A request for a key that was never stored is counted before any provider is asked.
 */
export function addDataRequest(app: App, broadcastsPerMinute: number): void {
  const limitBroadcasts = rateLimiter(app, {
    name: "broadcasts",
    perMinute: broadcastsPerMinute,
    exceeded: tooManyBroadcasts,
  });
  // Many requests name the same key, and most of their time would go into reading its name.
  const known = new LRUCache<string, RequestedDataPoint, DataRequest>({
    max: MAX_REMEMBERED,
    memoMethod: (_id, _old, { context: names }) => findDataPoint(app.operator, names, "invalid_body"),
  });
  app.post("/data/request", { schema }, async (request, reply) => {
    const { network_id, dataset: address, key: name } = request.body;
    const { dataset, broadcasts, updates, key } = known.memo(`${network_id} ${address} ${name}`, {
      context: request.body,
    });
    const isStream = acceptsEventStream(request.headers.accept);
    const { broadcast } = request.body;
    const wait = preferredWait(request.headers.prefer, MAX_MINING_WAIT_MS / 1000);
    if (broadcast) {
      broadcasts.senders.requireSender();
      await limitBroadcasts(request, reply);
    }
    const preferred = broadcast ? wait : null;
    if (preferred !== null) reply.header("preference-applied", `wait=${preferred}`);
    reply.header("vary", "accept, prefer");
    const prepared = broadcast || isStream ? null : updates.preparedAnswer(key);
    if (prepared !== null) return toDataAnswer(dataset, key, prepared);
    await app.limitNewKeys(request, reply, dataset, key);

    // A stream goes on until the transaction is mined, unless the caller prefers a shorter wait.
    const waitMs = preferred !== null ? preferred * 1000 : isStream ? MAX_MINING_WAIT_MS : 0;
    const { trace } = request;
    const work = async (listener: ProgressListener) => {
      const caller = { payer: callerIdOf(request.ip), trace, listener };
      const answer = broadcast ? updates.broadcast(key, waitMs, caller) : updates.prepare(key, caller);
      return toDataAnswer(dataset, key, await answer);
    };
    if (!isStream) return work(() => {});
    return eventStream(request, reply, work);
  });
}

/** Reports whether an `Accept` header names event streams themselves, with any weight: a wildcard does not. */
export function acceptsEventStream(header: string | undefined): boolean {
  const ranges = header?.split(",") ?? [];
  return ranges.some((range) => range.split(";")[0]?.trim().toLowerCase() === "text/event-stream");
}

/**
 * Returns how long a caller prefers to wait (RFC 7240: `Prefer: wait=10`), in whole seconds.
 *
 * @param maxSeconds A longer wait is cut to this.
 * @returns Null if there is no such preference.
 * @throws ProblemError if its value is no number. RFC 7240 lets servers ignore preferences that they do not know, not
 * headers that break its grammar, and nobody would notice that the wait is missing.
 */
export function preferredWait(header: string | undefined, maxSeconds: number): number | null {
  for (const preference of (header ?? "").split(",")) {
    const [name = "", value = ""] = (preference.split(";")[0] ?? "").split("=");
    if (name.trim().toLowerCase() !== "wait") continue;
    const seconds = /^"?(\d+)"?$/.exec(value.trim())?.[1];
    if (seconds === undefined) {
      throw invalidMember("bad_request", "prefer", "wait must be a whole number of seconds, as in wait=10.");
    }
    return Math.min(Number(seconds), maxSeconds);
  }
  return null;
}
