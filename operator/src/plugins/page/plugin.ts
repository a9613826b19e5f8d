import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "@dataset-oracle/service/http-server/app";
import type { RequestLimit } from "@dataset-oracle/service/http-server/rate-limit";
import { addStaticSite } from "@dataset-oracle/service/http-server/static-site";
import type { FastifyInstance } from "fastify";
import type { Dataset } from "../../dataset/dataset.js";
import { problem } from "../../routes/problems.js";
import { addData } from "./data.js";
import { addHistory } from "./history.js";
import { addOverview, ShownNetwork } from "./overview.js";
import type { PagePlan } from "./settings.js";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");

/** The page and the guide, and the routes that the page reads: the overview, data points and their history. */
export async function page(
  scope: FastifyInstance,
  { plans, requestsPerMinute }: { readonly plans: readonly PagePlan[]; readonly requestsPerMinute: number },
): Promise<void> {
  const app = scope as unknown as App;
  const { context } = app.operator;
  const shown = new Map<number, ShownNetwork>();
  app.operator.eachNetwork((network) => {
    const plan = plans.find(({ chainId }) => chainId === network.chainId);
    if (plan !== undefined) shown.set(network.chainId, new ShownNetwork(network, context.clock, plan));
  });
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

/** Returns a limit for one site, so that opening a page does not use up the caller's limit for the API. */
const siteRate = (name: string): RequestLimit => ({ name, perMinute: 300 });

/**
 * Serves the operator's page at `/`.
 *
 * @returns false if it has not been built.
 */
export async function addPage(app: App, folder = join(ROOT, "operator", "page", "dist")): Promise<boolean> {
  if (!existsSync(join(folder, "index.html"))) return false;
  await addStaticSite(app, { folder, prefix: "/", rate: siteRate("page") });
  return true;
}

/** Serves the documentation at `/guide/`. */
export async function addGuide(app: App, folder = join(ROOT, "docs", "dist"), rate = siteRate("guide")): Promise<void> {
  if (existsSync(join(folder, "index.html"))) return addStaticSite(app, { folder, prefix: "/guide/", rate });
  app.get("/guide/", { schema: { hide: true } }, async () => {
    throw problem(
      "no_such_path",
      { path: "/guide/" },
      {
        title: "This operator has no guide.",
        detail: 'The operator\'s owner can build it with "npm run docs" and restart the operator.',
      },
    );
  });
}
