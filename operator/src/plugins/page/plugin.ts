import type { App } from "@dataset-oracle/service/http-server/app";
import type { FastifyInstance } from "fastify";
import type { Dataset } from "../../dataset/dataset.js";
import { addData } from "./data.js";
import { addHistory } from "./history.js";
import { addOverview, ShownNetwork } from "./overview.js";
import type { PagePlan } from "./settings.js";
import { addGuide, addPage } from "./sites.js";

/** The page and the guide, and the routes that the page reads: the overview, data points and their history. */
export async function page(
  scope: FastifyInstance,
  { plans, requestsPerMinute }: { readonly plans: readonly PagePlan[]; readonly requestsPerMinute: number },
): Promise<void> {
  const app = scope as unknown as App;
  const { context, networks } = app.operator;
  const shown = new Map<number, ShownNetwork>();
  for (const plan of plans) {
    const network = networks.get(plan.deployment.chainId);
    if (network !== undefined) shown.set(network.chainId, new ShownNetwork(network, plan, context.clock));
  }
  const shownOf = ({ chainId }: Dataset): ShownNetwork => {
    const network = shown.get(chainId);
    if (network === undefined) throw new Error(`The network ${chainId} is not served.`);
    return network;
  };
  addOverview(app, shown, requestsPerMinute);
  addData(app, shownOf, requestsPerMinute);
  addHistory(app, shownOf, requestsPerMinute);
  await addGuide(app);
  if (!(await addPage(app))) context.logger.warn("the page is not built, so it is not served: run npm run build");
}
