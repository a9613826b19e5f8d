/** The schemas of a gateway for lenses (ERC-3668). */

import { type Static, Type } from "@sinclair/typebox";
import { strict } from "./fields.js";

/** A lens's request to a gateway (ERC-3668): the body of a POST, or the parameters in the path of a GET. */
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
  { data: Type.String({ description: "The packed update of the key, in hex." }) },
  strict,
);
export type GatewayAnswer = Static<typeof GatewayAnswer>;
