import { oneOf, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { PROBLEM_CONTENT_TYPE, Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import type { App } from "@dataset-oracle/service/http-server/app";
import { HEALTH_RATE } from "@dataset-oracle/service/http-server/rate-limit";
import { Type } from "@sinclair/typebox";
import { reachesQuorum } from "../reports/quorum.js";
import type { ServedNetwork } from "../served-network.js";
import { problemsOf } from "./problem-responses.js";
import { problem } from "./problems.js";

const EndpointHealth = Type.Object(
  {
    endpoint: Type.String({ description: "The endpoint's place in the configuration, such as `rpcUrls/0`." }),
    ready: Type.Boolean({ description: "True if it passed its last check and has not failed since." }),
    without: Type.Array(Type.String(), {
      description: "The kinds of requests that it refused, such as `eth_call pending`.",
    }),
  },
  strict,
);

const NetworkHealth = Type.Object(
  {
    network_id: Type.Integer(),
    rpc: Type.Boolean({ description: "True if an RPC endpoint of the network can be used." }),
    broadcasting: oneOf(
      ["ok", "low_balance", "no_key", "no_rpc", "not_served"],
      "Whether the operator can send transactions; `broadcast: false` needs no balance. `not_served` until " +
        "the network is served; otherwise `no_key` without a sender; otherwise `no_rpc` while `rpc` is false; otherwise " +
        "`low_balance` while a sender has less than `lowBalanceGwei`, or nothing at all.",
    ),
    missing: Type.Optional(
      Type.String({
        description:
          "What has kept the network from being served since the operator started, or which data providers fail so that " +
          "a dataset cannot be updated.",
      }),
    ),
    endpoints: Type.Array(EndpointHealth),
  },
  strict,
);

const NetworksHealth = Type.Array(NetworkHealth);
const Live = Type.Object({ live: Type.Boolean() }, { description: "The process is running." });
const Ready = Type.Object(
  { ready: Type.Literal(true), networks: NetworksHealth },
  { ...strict, description: "Every network can be read." },
);
const NotReady = Type.Object({ ...Problem.properties, code: Type.Literal("not_ready"), networks: NetworksHealth });
const NOT_READY = {
  description: "The problem is not_ready: a network cannot be read.",
  content: { [PROBLEM_CONTENT_TYPE]: { schema: NotReady } },
};

/** Describes who fails where the updates of a dataset cannot have a quorum; null where there is no such dataset. */
function describeFailing({ datasets, providers }: ServedNetwork): string | null {
  const failing = new Set<string>();
  for (const { dataset } of datasets.values()) {
    const { members } = dataset.committee.current;
    const failed = members.filter((member) => providers.failures.reasonOf(member) !== null);
    if (reachesQuorum(members.length - failed.length, members.length)) continue;
    for (const member of failed)
      failing.add(`${member} (${providers.urls.hostOf(member)}): ${providers.failures.reasonOf(member)}`);
  }
  return failing.size === 0 ? null : `Too few data providers answer. ${[...failing].join("; ")}.`;
}

/**
 * Adds `GET /live`, which answers while the process runs, and `GET /ready`, which succeeds while every network is served
 * and has an RPC endpoint that can be used. `GET /ready` shows a low balance but still succeeds: only broadcasting needs a
 * balance.
 */
export function addHealth(app: App): void {
  const { networks, clients, missing } = app.operator;
  const config = { rate: HEALTH_RATE };
  const live = {
    tags: ["health"],
    operationId: "isLive",
    summary: "Succeeds while the process is running.",
    description: "It reads nothing, so it fails only if the process hangs or has ended.",
    response: { 200: Live, ...problemsOf("isLive") },
  };
  app.get("/live", { config, schema: live }, async () => ({ live: true }));

  const ready = {
    tags: ["health"],
    operationId: "isReady",
    summary: "Succeeds while every network can be served.",
    description: "A low balance does not make it fail, because only broadcasts need a balance.",
    response: { 200: Ready, ...problemsOf("isReady"), 503: NOT_READY },
  };
  app.get("/ready", { config, schema: ready }, async () => {
    const health = await Promise.all(
      [...clients].map(async ([network_id, client]) => {
        const network = networks.get(network_id);
        const rpc = client.isReady();
        const endpoints = client.endpoints().map(({ block, ...shown }) => shown);
        if (network === undefined) {
          const lack = missing.get(network_id) ?? "";
          return { network_id, rpc, broadcasting: "not_served", missing: lack, endpoints } as const;
        }
        const isLow = (await network.balances.read()).some((balance) => balance.isLow);
        const broadcasting = !network.senders.canSend ? "no_key" : !rpc ? "no_rpc" : isLow ? "low_balance" : "ok";
        const lack = describeFailing(network);
        return { network_id, rpc, broadcasting, ...(lack !== null && { missing: lack }), endpoints } as const;
      }),
    );
    const unreadable = health.flatMap(({ network_id, rpc }) => (rpc && networks.has(network_id) ? [] : [network_id]));
    if (unreadable.length > 0) {
      const detail = "`missing` says why, or else none of its RPC endpoints can be used. The operator's log says more.";
      throw problem("not_ready", { network: unreadable.join(", ") }, { detail, extras: { networks: health } });
    }
    return { ready: true as const, networks: health };
  });
}
