/** The schemas of a gateway for lenses (ERC-3668). */

import { type Static, Type } from "@sinclair/typebox";
import { strict } from "./fields.js";

/** The question that a lens has for a gateway (ERC-3668): the body of a POST, and the parameters of a GET's path. */
export const GatewayRequest = Type.Object(
  {
    sender: Type.String({ description: "The address of the lens." }),
    data: Type.String({
      description: "The calldata of `fetchUpdate(address,bytes)`: the dataset and the key's bytes.",
    }),
  },
  strict,
);
export type GatewayRequest = Static<typeof GatewayRequest>;

/** A gateway's answer to a lens (ERC-3668). */
export const GatewayAnswer = Type.Object(
  { data: Type.String({ description: "The calldata of `update` or `updateNotAvailable`, in hex." }) },
  strict,
);
export type GatewayAnswer = Static<typeof GatewayAnswer>;
