import { parseJson } from "@dataset-oracle/protocol/parse-json";
import type { Result } from "@dataset-oracle/protocol/result";
import type { HttpAnswer } from "@dataset-oracle/service/http-client/fetch-result";
import type { Static, TSchema } from "@sinclair/typebox";
import type { TypeCheck } from "@sinclair/typebox/compiler";

/** Reads what another node answered. Returns null unless it has status 200 and the form of the schema. */
export function readNodeAnswer<T extends TSchema>(
  schema: TypeCheck<T>,
  answer: Result<HttpAnswer, unknown>,
): Static<T> | null {
  if (!answer.ok || answer.value.status !== 200) return null;
  const json = parseJson(answer.value.text);
  return schema.Check(json) ? json : null;
}
