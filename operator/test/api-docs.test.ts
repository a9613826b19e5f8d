import { OPERATOR_PROBLEMS } from "@dataset-oracle/protocol/operator-problem";
import { expect, test } from "vitest";
import { OPERATIONS, operationsOf } from "./support/operations.js";
import { startOperator } from "./support/operator.js";

interface Response {
  readonly description: string;
}

interface Operation {
  readonly operationId?: string;
  readonly responses: Record<string, Response>;
}

/** The part of the document that the tests read. */
interface OpenApiJson {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

const { base } = await startOperator([], { basePath: "/oracle" });
const document = (await (await fetch(`${base}/openapi.json`)).json()) as OpenApiJson;

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

test("the document has every path below the base path, and those of health at the root", () => {
  expect(document.openapi).toBe("3.1.0");
  const below = (operation: string) =>
    /\/(?:live|ready)$/.test(operation) ? operation : operation.replace("/", "/oracle/");
  expect(operationsOf(document)).toEqual(Object.values(OPERATIONS).flat().map(below).toSorted());
});

test("every problem of an operation is named at its status, and no other", () => {
  for (const { operationId = "", responses } of operations()) {
    const isGateway = operationId.startsWith("fetchUpdate");
    const declared = Object.entries(OPERATOR_PROBLEMS).flatMap(([code, { status, routes }]) =>
      // The gateway answers a rate limit as 503, in the sense of ERC-3668.
      (routes as readonly string[]).includes(operationId)
        ? status.map((each) => `${isGateway && (each as number) === 429 ? 503 : each} ${code}`)
        : [],
    );
    if (operationId === "isReady") declared.push("503 not_ready");
    const codes = new RegExp(`\\b(${Object.keys(OPERATOR_PROBLEMS).join("|")})\\b`, "g");
    const named = Object.entries(responses).flatMap(([status, { description }]) =>
      [...description.matchAll(codes)].map(([code]) => `${status} ${code}`),
    );
    expect(named.toSorted(), operationId).toEqual(declared.toSorted());
  }
});
