import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { ServedDataset } from "@dataset-oracle/protocol/http-schemas/datasets";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/openapi";
import { Type } from "@sinclair/typebox";
import { readView } from "../dataset/contract.js";
import type { Dataset } from "../dataset/dataset.js";
import type { ProviderUrls } from "../reports/provider-urls.js";
import { RpcError } from "../rpc/rpc-error.js";
import { SingleFlight } from "../single-flight.js";
import { problemsOf } from "./problem-responses.js";
import { notReady } from "./problems.js";

/** How long a description is reused: writing the names of many keys takes long. */
const REMEMBER_MS = 2_000;

const schema = {
  tags: ["data"],
  operationId: "listDatasets",
  summary: "Lists the datasets that are served.",
  description:
    "Each is listed with its known keys, the price of a query, and the providers that the operator asks. A network " +
    "whose chain could not be read since the operator started is left out.",
  response: { 200: jsonAnswer("The datasets, by network.", Type.Array(ServedDataset)), ...problemsOf("listDatasets") },
};

/** Adds `GET /datasets`. */
export function addDatasets(app: App): void {
  const { context, networks } = app.operator;
  const shared = new SingleFlight<ServedDataset>(context.clock, { rememberMs: REMEMBER_MS });

  /** Returns the price. If the committee was replaced, the dataset has the new one afterwards. */
  async function readPriceAndCommittee(dataset: Dataset): Promise<bigint> {
    try {
      await dataset.committee.refreshIfReplaced(dataset.committee.current);
      return await readView(dataset, "queryPrice");
    } catch (error) {
      throw error instanceof RpcError ? notReady(dataset.chainId) : error;
    }
  }

  const describe = async (dataset: Dataset, urls: ProviderUrls): Promise<ServedDataset> => ({
    network_id: dataset.chainId,
    dataset: dataset.address,
    kind: dataset.kind,
    keys: dataset.keys.listed.flatMap((key) => keyToAscii(key) ?? []),
    query_price: (await readPriceAndCommittee(dataset)).toString(),
    providers: dataset.committee.current.members.flatMap((address) => {
      const url = urls.urlOf(address);
      return url === undefined ? [] : [{ address, url }];
    }),
  });

  app.get("/datasets", { schema }, async (): Promise<ServedDataset[]> => {
    const served = [...networks.values()].flatMap(({ datasets, providers }) =>
      [...datasets.values()].map(({ dataset }) => {
        const { chainId, address } = dataset;
        return shared.run(`${chainId} ${address}`, () => describe(dataset, providers.urls)).result;
      }),
    );
    return Promise.all(served);
  });
}
