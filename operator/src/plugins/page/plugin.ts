import type { App } from "@dataset-oracle/service/http-server/app";
import type { FastifyInstance } from "fastify";
import { addData } from "./data.js";
import { addHistory } from "./history.js";
import { addOverview, Overview } from "./overview.js";
import type { PagePlan } from "./settings.js";
import { addGuide, addPage } from "./static-sites.js";
import { UpdateIndexes } from "./update-index.js";

/** The page and the guide, and the routes that the page reads: the overview, data points and their history. */
export async function page(
  scope: FastifyInstance,
  { plans, requestsPerMinute }: { readonly plans: readonly PagePlan[]; readonly requestsPerMinute: number },
): Promise<void> {
  const app = scope as unknown as App;
  const { context, networks } = app.operator;
  const overview = new Overview(networks, plans, context);
  const indexes = new UpdateIndexes(networks, plans, context);
  addOverview(app, overview, requestsPerMinute);
  addData(app, overview, indexes, requestsPerMinute);
  addHistory(app, indexes, requestsPerMinute);
  await addGuide(app);
  if (!(await addPage(app))) context.logger.warn("the page is not built, so it is not served: run npm run build");
}
