import { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Deployment } from "@dataset-oracle/service/config/deployment";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import type { FastifyInstance } from "fastify";
import type { Dataset } from "../../dataset/dataset.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { addData } from "./data.js";
import { addHistory } from "./history.js";
import { Overview } from "./overview.js";
import type { PageSettings } from "./settings.js";
import { addGuide, addPage } from "./static-sites.js";
import { UpdateIndex } from "./update-index.js";

/** What the plugin has to know of a network. */
export interface PagePlan {
  readonly deployment: Pick<Deployment, "chainId" | "webOracleRegistry" | "verifiedLens">;
  readonly settings: PageSettings & {
    readonly providers: readonly { readonly name?: string; readonly address: string }[];
  };
}

/** The index of each dataset's updates, and how many blocks a request may search. */
export interface IndexOf {
  readonly indexOf: (dataset: Dataset) => UpdateIndex;
  readonly blocksOf: (dataset: Dataset) => number;
}

const overviewSchema = {
  tags: ["data"],
  operationId: "readOverview",
  summary: "Lists everything that is served, with the values that are stored now.",
  description: "The operator's page shows it. A network that cannot be read now is listed without values.",
  response: {
    200: jsonAnswer("The networks, their datasets and their data points.", OverviewAnswer),
    ...problemsOf("readOverview"),
  },
};

/** The page and the guide, and the routes that the page reads: the overview, data points and their history. */
export async function page(
  scope: FastifyInstance,
  { plans, requestsPerMinute }: { readonly plans: readonly PagePlan[]; readonly requestsPerMinute: number },
): Promise<void> {
  const app = scope as unknown as App;
  const { context, networks } = app.operator;
  const overview = new Overview(networks, plans, context);
  const indexes = indexesOf(app, plans);
  // Their rate limits are their own, so that looking does not use up the data requests of a caller.
  const config = { rate: { name: "overview", perMinute: requestsPerMinute } };
  app.get("/overview", { schema: overviewSchema, config }, () => overview.read());
  addData(app, overview, indexes, requestsPerMinute);
  addHistory(app, indexes, requestsPerMinute);
  await addGuide(app);
  if (!(await addPage(app))) context.logger.warn("the page is not built, so it is not served: run npm run build");
}

function indexesOf(app: App, plans: readonly PagePlan[]): IndexOf {
  const { context, networks } = app.operator;
  const settingsOf = new Map(plans.map(({ deployment, settings }) => [deployment.chainId, settings]));
  const indexes = new Map<Dataset, UpdateIndex>();
  for (const { chainId, datasets } of networks.values()) {
    const settings = settingsOf.get(chainId);
    if (settings === undefined) continue;
    for (const { dataset } of datasets.values()) indexes.set(dataset, new UpdateIndex(dataset, settings, context));
  }
  const found = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("a served dataset has no index");
    return value;
  };
  return {
    indexOf: (dataset) => found(indexes.get(dataset)),
    blocksOf: ({ chainId }) => found(settingsOf.get(chainId)).historyBlocks,
  };
}
