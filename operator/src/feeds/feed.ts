import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import type { Hex } from "viem";
import type { UpdatePolicy } from "./update-policy.js";

/** A key that is kept fresh. */
export interface Feed {
  readonly key: Hex;
  /** Its keccak256, by which batches name it. */
  readonly keyHash: Hex;
  readonly policy: UpdatePolicy;
}

/** A feed with its stored value. */
export interface StoredFeed extends Feed {
  readonly stored: QueryResult;
}
