/** The schema of `GET /datasets`. */

import { type Static, Type } from "@sinclair/typebox";
import { DATASET_KINDS } from "../dataset-kind.js";
import { Address, NetworkId, oneOf, strict } from "./fields.js";

/** `GET /datasets`: one dataset. */
export const ServedDataset = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    kind: oneOf(DATASET_KINDS),
    keys: Type.Array(Type.String(), { description: "The known keys, in ASCII." }),
    query_price: Type.String({ description: "The price of one query, in wei, as a decimal string." }),
    providers: Type.Array(Type.Object({ address: Address, url: Type.String() }, strict)),
  },
  strict,
);
export type ServedDataset = Static<typeof ServedDataset>;
