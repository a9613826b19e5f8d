import { OPERATOR_PROBLEM_MEMBERS, type OperatorProblemCode } from "@dataset-oracle/protocol/operator-problem";
import type { App } from "@dataset-oracle/service/http-server/app";
import { type ApiDescription, addOpenApi, problemResponses } from "@dataset-oracle/service/http-server/openapi";
import swaggerUi from "@fastify/swagger-ui";
import { Type } from "@sinclair/typebox";
import { STATIC_POLICY, shareBytes, staticRate } from "./static-files.js";
import { DOCS_SCRIPT, DOCS_STYLE } from "./swagger-ui-fixes.js";

export const API: ApiDescription = {
  title: "Dataset Oracle operator",
  description:
    "Updates data points of dataset contracts: gathers the data providers' signed reports, and sends the update " +
    "transaction or hands it to the caller. No API key is needed. The paths are stable: a breaking change would be " +
    "served under /v2.",
  contact: "The operator's owner",
  tags: {
    data: "The data points, as they are stored and as they can be updated.",
    trials: "Request specs of the Web Oracle on trial. Nothing is signed.",
    nodes: "The exchange between the nodes of one network.",
    health: "The state of the process, for whoever runs it.",
  },
};

type Codes = Readonly<Record<number, readonly OperatorProblemCode[]>>;

/** The problems of an operation that counts against a rate limit. */
const LIMITED: Codes = { 429: ["too_many_requests"] };

/** The problems of an operation that reads the chain. */
const CHAIN: Codes = { 502: ["rpc_failed"], 503: ["shutting_down"], 504: ["rpc_timeout"] };

/** The problems of an operation about a data point. */
const DATA_POINT: Codes = { 400: ["invalid_body"], 404: ["unknown_dataset"], 422: ["unknown_network", "invalid_key"] };

/** The problems of an operation that reads nothing but the operator's memory. */
export const LIMITED_PROBLEMS = problemResponses([LIMITED]);

/** The problems of an operation that reads the chain. */
export const chainProblems = (own: Codes = {}) => problemResponses([LIMITED, CHAIN, own], OPERATOR_PROBLEM_MEMBERS);

/** The problems of an operation about a data point. */
export const dataPointProblems = (...own: Codes[]) =>
  problemResponses([LIMITED, DATA_POINT, ...own, CHAIN], OPERATOR_PROBLEM_MEMBERS);

/** The problems of an operation about a dataset of the Web Oracle, which reads nothing of the chain. */
export const datasetProblems = (...own: Codes[]) =>
  problemResponses(
    [LIMITED, { 400: ["invalid_body"], 404: ["unknown_dataset"], 422: ["unknown_network"] }, ...own],
    OPERATOR_PROBLEM_MEMBERS,
  );

/** The errors of a gateway, in the form of ERC-3668. */
export const gatewayErrors = (codes: Codes) =>
  Object.fromEntries(
    Object.entries(codes).map(([status, all]) => {
      const code = Type.Union(
        all.map((each) => Type.Literal(each)),
        { description: "A stable code, for programs." },
      );
      const message = Type.String({ description: "The fact, and how to fix it." });
      const schema = Type.Object({ message, code });
      return [
        status,
        { description: `The error is ${all.join(" or ")}.`, content: { "application/json": { schema } } },
      ];
    }),
  );

/** Adds `GET /openapi.json`, and `GET /docs`, a page that shows it and sends requests to try it out. */
export async function addDocs(app: App): Promise<void> {
  addOpenApi(app);
  await app.register(async (scope) => {
    const rate = staticRate("docs");
    scope.addHook("onRoute", (route) => {
      route.config = { ...route.config, rate };
    });
    shareBytes(scope as unknown as App);
    await scope.register(swaggerUi, {
      routePrefix: "/docs",
      // The page then loads its files by relative paths, which work below any base path.
      indexPrefix: ".",
      staticCSP: STATIC_POLICY,
      theme: {
        title: "Dataset Oracle operator: API",
        css: [{ filename: "correct.css", content: DOCS_STYLE }],
        js: [{ filename: "correct.js", content: DOCS_SCRIPT }],
      },
      uiConfig: { layout: "BaseLayout", docExpansion: "list", defaultModelsExpandDepth: -1, tryItOutEnabled: false },
    });
  });
}
