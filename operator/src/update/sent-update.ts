import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Hex } from "viem";

/** An update that is on its way to the chain, sent by this operator, by another node for it, or by another relayer. */
export interface SentUpdate {
  readonly answer: DataAnswer;
  /** The signed transaction; null when another relayer sent it, or when it is part of a batch. */
  readonly raw: Hex | null;
  /**
   * The mined update, of this round or a newer one; `not_stored` if it reverted, or changed nothing because another
   * relayer's update was mined before it; null when none is mined, when another relayer sent it, or when it is part of
   * a batch.
   */
  readonly mined: Promise<DataAnswer | "not_stored" | null>;
}
