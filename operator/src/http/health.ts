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
    rpc: Type.Boolean({ description: "Whether an RPC endpoint of the network can be used." }),
    broadcasting: Type.Union(
      ["ok", "low_balance", "no_key"].map((state) => Type.Literal(state)),
      {
        description: "Whether it can be relied on; `broadcast: false` needs no balance.",
      },
    ),
  },
  strict,
);

/**
 * `GET /live`: the process answers; `GET /ready`: every network has an RPC endpoint that can be used. A balance that is
 * low is said there, and makes nothing unready: only broadcasting needs it.
 */
export function addHealth(app: App, operator: Operator, balances: Balances): void {
  const networks = [...operator.networks.values()];
  const config = { rate: null };
  const live = {
    tags: ["health"],
    summary: "Whether the process answers.",
    response: { 200: Type.Object({ live: Type.Boolean() }) },
  };
  app.get("/live", { config, schema: live }, async () => ({ live: true }));

  const response = { 200: Type.Object({ ready: Type.Literal(true), networks: Type.Array(NetworkHealth) }, strict) };
  const ready = { tags: ["health"], summary: "Whether every network can be served.", response };
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
  const lost = networks.filter(({ rpc }) => !rpc).map(({ network_id }) => network_id);
  return new ProblemError(
    {
      title: `Network ${lost.join(", ")} cannot be read now.`,
      status: 503,
      code: "not_ready",
      detail: "No RPC endpoint of it can be used. The log says why.",
    },
    { extras: { networks } },
  );
}
