import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { ServedDataset } from "@dataset-oracle/protocol/http-schemas/datasets";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { Address } from "viem";
import type { ChainClient } from "../chain/client.js";
import { readView } from "../chain/read-view.js";
import { RpcError } from "../chain/rpc-error.js";
import type { Dataset, Network } from "../network.js";
import type { Operator } from "../operator.js";
import { notReady } from "../problems.js";
import { SingleFlight } from "../single-flight.js";
import { chainProblems } from "./problem-responses.js";

/** How long a price is reused before it is read again. */
const REMEMBER_MS = 2_000;

const schema = {
  tags: ["data"],
  operationId: "listDatasets",
  summary: "Lists the datasets that are served.",
  description: "Each is listed with its known keys, the price of a query, and the providers that the operator asks.",
  response: {
    200: jsonAnswer("The datasets, by network.", Type.Array(ServedDataset)),
    ...chainProblems({ 503: ["not_ready"] }),
  },
};

/** Adds `GET /datasets`. */
export function addDatasets(app: App, operator: Operator): void {
  const prices = new SingleFlight<bigint>(operator.clock, REMEMBER_MS);
  app.get("/datasets", { schema }, async (): Promise<ServedDataset[]> => {
    const served = [...operator.networks.values()].map((network) =>
      Promise.all([...network.datasets.values()].map((dataset) => describe(network, dataset, prices))),
    );
    return (await Promise.all(served)).flat();
  });
}

async function describe(network: Network, dataset: Dataset, prices: SingleFlight<bigint>): Promise<ServedDataset> {
  const { address, kind, keys, committee } = dataset;
  const { chainId, client, providerUrls } = network;
  return {
    network_id: chainId,
    dataset: address,
    kind,
    keys: keys.flatMap((key) => keyToAscii(key) ?? []),
    query_price: (await readPrice(client, address, prices)).toString(),
    providers: committee.current.members.flatMap((member: Address) => {
      const url = providerUrls.urlOf(member);
      return url === undefined ? [] : [{ address: member, url }];
    }),
  };
}

async function readPrice(client: ChainClient, dataset: Address, prices: SingleFlight<bigint>): Promise<bigint> {
  try {
    return await prices.run(`${client.chain.id} ${dataset}`, () => readView(client, dataset, "queryPrice")).result;
  } catch (error) {
    throw error instanceof RpcError ? notReady(client.chain.id) : error;
  }
}
