// Generates the reference of the operator's HTTP API from its OpenAPI document.

import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { OPERATOR_PROBLEMS, ProviderFailure } from "@dataset-oracle/protocol/operator-problem";
import { encodeFunctionData, stringToHex } from "viem";
import { withAppForDocs } from "../app-for-docs.js";
import { DEVNET } from "../devnet-addresses.js";
import { objectsOf } from "../json-schema-objects.js";
import { table } from "../markdown-table.js";
import { fieldsOf, operationSection } from "./http-operations.js";

/** The data point of the examples, on the devnet. The site replaces it with what its own operator serves. */
const DATA_POINT = { network_id: DEVNET.networkId, dataset: DEVNET.datasets.financial, key: "SPOTPX/ETH-USD" };
const CALL = encodeFunctionData({
  abi: updateGatewayAbi,
  functionName: "fetchUpdate",
  args: [DATA_POINT.dataset, stringToHex(DATA_POINT.key)],
});
/** @type {Record<string, unknown>} */
const VALUES = {
  ...DATA_POINT,
  broadcast: false,
  timestamp: 1_790_000_000,
  provider: DEVNET.provider,
  networkId: DATA_POINT.network_id,
  sender: DEVNET.lens,
  data: CALL,
};
export async function httpReference() {
  /** @type {{ info: { description: string }, paths: Record<string, Record<string, import("./http-operations.js").Operation>> }} */
  const { info, paths } = await withAppForDocs(async (app) => (await app.inject("/openapi.json")).json());
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationSection(`${method.toUpperCase()} ${path}`, operation, example(method, path, operation)),
    ),
  );
  return [
    "# HTTP API",
    info.description,
    "Generated from the OpenAPI 3.1 document that an operator with all plugins serves at `GET /openapi.json`. All paths " +
      "except `/live` and `/ready` are below the operator's base path. Problems are `application/problem+json`, except those of the gateway, which have the form of ERC-3668; [the last section](#problems) lists them all.",
    ...operations,
    "## Problems",
    "A problem has a `title`, a `status`, a stable `code`, and a `detail` that says what to do. Words in braces stand for values.",
    table(
      ["status", "code", "title", "what to do"],
      Object.entries(OPERATOR_PROBLEMS).map(([code, { status, title, detail }]) => [
        status.join(", "),
        `\`${code}\``,
        inWords(title),
        inWords(detail),
      ]),
    ),
    "Each of a problem's `failures` has:",
    fieldsOf(ProviderFailure),
  ].join("\n\n");
}

/**
 * Returns a text with its placeholders, which the site would take for expressions, as code.
 *
 * @param {string} text
 */
const inWords = (text) => text.replace(/\{(\w+)\}/g, "`{$1}`");

/**
 * Returns the command of a request with everything that is required, on a devnet.
 *
 * @param {string} method
 * @param {string} path
 * @param {import("./http-operations.js").Operation} operation
 */
function example(method, path, { parameters = [], requestBody }) {
  const asked = parameters.filter(({ in: place, required }) => place === "query" && required);
  const query = asked.map(({ name }) => `${name}=${exampleOf(name)}`).join("&");
  const at =
    path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(exampleOf(name)))) + (query && `?${query}`);
  const schema = requestBody?.content["application/json"]?.schema;
  const properties = (schema ? objectsOf(schema)[0]?.properties : undefined) ?? [];
  const body = Object.fromEntries(
    properties.flatMap(({ name, isRequired }) => (isRequired ? [[name, exampleOf(name)]] : [])),
  );
  const post = method === "post" ? ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : "";
  return ["```sh", `curl -s '${DEVNET.operator}${at}'${post}`, "```"].join("\n");
}

/** @param {string} name */
function exampleOf(name) {
  if (!(name in VALUES))
    throw new Error(`There is no example value for "${name}". Add one in docs/site/reference/operator-http-api.js.`);
  return VALUES[name];
}
