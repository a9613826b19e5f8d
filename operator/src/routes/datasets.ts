import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { ServedDataset } from "@dataset-oracle/protocol/http-schemas/datasets";
import type { App } from "@dataset-oracle/service/http-server/app";
import { problem } from "@dataset-oracle/service/http-server/problem-error";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { Address } from "viem";
import { readView } from "../dataset/contract.js";
import type { Dataset } from "../dataset/dataset.js";
import type { ProviderUrls } from "../reports/provider-urls.js";
import { RpcError } from "../rpc/rpc-error.js";
import { SingleFlight } from "../single-flight.js";
import { problemsOf } from "./problem-responses.js";

/** How long a price is reused before it is read again. */
const REMEMBER_MS = 2_000;

const schema = {
  tags: ["data"],
  operationId: "listDatasets",
  summary: "Lists the datasets that are served.",
  description: "Each is listed with its known keys, the price of a query, and the providers that the operator asks.",
  response: {
    200: jsonAnswer("The datasets, by network.", Type.Array(ServedDataset)),
    ...problemsOf("listDatasets"),
  },
};

/** Adds `GET /datasets`. */
export function addDatasets(app: App): void {
  const { context, networks } = app.operator;
  const prices = new SingleFlight<bigint>(context.clock, REMEMBER_MS);
  app.get("/datasets", { schema }, async (): Promise<ServedDataset[]> => {
    const served = [...networks.values()].map(({ datasets, providers }) =>
      Promise.all([...datasets.values()].map(({ dataset }) => describe(dataset, providers.urls, prices))),
    );
    return (await Promise.all(served)).flat();
  });
}

async function describe(dataset: Dataset, urls: ProviderUrls, prices: SingleFlight<bigint>): Promise<ServedDataset> {
  const { chainId, address, kind, keys, committee } = dataset;
  return {
    network_id: chainId,
    dataset: address,
    kind,
    keys: keys.listed.flatMap((key) => keyToAscii(key) ?? []),
    query_price: (await readPrice(dataset, prices)).toString(),
    providers: committee.current.members.flatMap((member: Address) => {
      const url = urls.urlOf(member);
      return url === undefined ? [] : [{ address: member, url }];
    }),
  };
}

async function readPrice(dataset: Dataset, prices: SingleFlight<bigint>): Promise<bigint> {
  const { chainId, address } = dataset;
  try {
    return await prices.run(`${chainId} ${address}`, () => readView(dataset, "queryPrice")).result;
  } catch (error) {
    throw error instanceof RpcError ? problem("not_ready", { network: chainId }) : error;
  }
}
