import type { App } from "@dataset-oracle/service/app";
import { ProblemError } from "@dataset-oracle/service/problem";
import { Type } from "@sinclair/typebox";
import { parseGwei } from "viem";
import type { Balances } from "../balances.js";
import type { Operator } from "../operator.js";

const strict = { additionalProperties: false } as const;

const NetworkHealth = Type.Object(
  {
    network_id: Type.Integer(),
    rpc: Type.Boolean({ description: "True if an RPC endpoint of the network can be used." }),
    broadcasting: Type.Union(
      ["ok", "low_balance", "no_key"].map((state) => Type.Literal(state)),
      {
        description: "Whether the operator can send transactions; `broadcast: false` needs no balance.",
      },
    ),
  },
  strict,
);

/**
 * Adds `GET /live`, which answers while the process runs, and `GET /ready`, which succeeds while every network has an RPC
 * endpoint that can be used. A low balance is shown there and does not fail it: only broadcasting needs a balance.
 */
export function addHealth(app: App, operator: Operator, balances: Balances): void {
  const networks = [...operator.networks.values()];
  const config = { rate: null };
  const live = {
    tags: ["health"],
    summary: "Succeeds while the process runs.",
    response: { 200: Type.Object({ live: Type.Boolean() }) },
  };
  app.get("/live", { config, schema: live }, async () => ({ live: true }));

  const response = { 200: Type.Object({ ready: Type.Literal(true), networks: Type.Array(NetworkHealth) }, strict) };
  const ready = { tags: ["health"], summary: "Succeeds while every network can be served.", response };
  app.get("/ready", { config, schema: ready }, async () => {
    const read = await balances.read();
    const health = networks.map((network) => {
      const { chainId, client, lowBalanceGwei } = network;
      const known = read.filter((balance) => balance.network === network).flatMap(({ wei }) => wei ?? []);
      const isLow = known.some((wei) => wei < parseGwei(String(lowBalanceGwei)));
      const broadcasting = network.senders === null ? "no_key" : isLow ? "low_balance" : "ok";
      return { network_id: chainId, rpc: client.isReady(), broadcasting };
    });
    if (health.some(({ rpc }) => !rpc)) throw notAllReady(health);
    return { ready: true as const, networks: health };
  });
}

function notAllReady(networks: readonly { readonly network_id: number; readonly rpc: boolean }[]): ProblemError {
  const unreadable = networks.filter(({ rpc }) => !rpc).map(({ network_id }) => network_id);
  return new ProblemError(
    {
      title: `Network ${unreadable.join(", ")} cannot be read.`,
      status: 503,
      code: "not_ready",
      detail: "None of its RPC endpoints can be used. The operator's log says why.",
    },
    { extras: { networks } },
  );
}
