import type { DataRequest } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Address } from "viem";

export function dataRequestBody(
  { dataset }: { readonly dataset: Address },
  key: string,
  broadcast = false,
): DataRequest {
  return { network_id: 42, dataset, key, broadcast };
}
