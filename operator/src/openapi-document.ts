import { openApiOf } from "@dataset-oracle/service/http-server/openapi";
import { withEmptyOperator } from "./operator-without-networks.js";

/** Returns the answer of `GET /openapi.json`, from an operator that serves no network and opens no port. */
export const openApiDocument = (): Promise<ReturnType<typeof openApiOf>> => withEmptyOperator(openApiOf);
