import { stackOf } from "@dataset-oracle/service/process/logger";
import type { Hex } from "viem";
import { roundAt } from "../../dist/schedule/beat.js";
import type { Journal } from "./journal.js";
import type { Life } from "./operator-process.js";

/** What is asked of an operator, and what became of it. */
export interface AskedUpdate {
  readonly id: number;
  readonly life: Life;
  readonly key: string;
  readonly at: number;
  /** The round at which it was asked, by the operator's clock. */
  readonly from: bigint;
  /** Whether nothing could excuse a failure, here or elsewhere, when it was asked, nor when it was answered. */
  isCalm: boolean;
  answeredAt: number | null;
  /** The code of the problem, or `sent`; null without an answer. */
  outcome: string | null;
  /** The round of the answer; null if it is a problem. */
  round: bigint | null;
  /** The round and the hash that were promised; null if none was. */
  promised: { readonly round: bigint; readonly hash: Hex } | null;
}

interface AskingWorld extends Pick<Journal, "count" | "trace" | "violate"> {
  /** The faults that can explain a failure now. */
  readonly excuses: readonly string[];
}

/** Has a caller ask a process for an update of a key, and notes the answer when it comes. */
export function askForUpdate(world: AskingWorld, id: number, life: Life, key: string, caller: string): AskedUpdate {
  const isCalm = () => world.excuses.length === 0 && !life.operator.isHit;
  const one: AskedUpdate = {
    ...{ id, life, key, at: Date.now(), from: roundAt(life.operator.now()), isCalm: isCalm() },
    ...{ answeredAt: null, outcome: null, round: null, promised: null },
  };
  const headers = { "content-type": "application/json" };
  const { chainId, dataset } = life.operator.options;
  const payload = { network_id: chainId, dataset, key, broadcast: true };
  const answered = life.app?.inject({
    method: "POST",
    url: "/data/request",
    headers,
    payload,
    remoteAddress: caller,
  });
  answered?.then(
    (response) => {
      if (!life.isAlive) return;
      one.answeredAt = Date.now();
      const body = response.json();
      const outcome = response.statusCode === 200 ? "sent" : body.code;
      one.outcome = outcome;
      one.isCalm &&= isCalm();
      world.count(`answer: ${outcome}`);
      if (response.statusCode === 200) one.round = BigInt(body.timestamp);
      if (one.round !== null && body.transaction_hash) one.promised = { round: one.round, hash: body.transaction_hash };
      world.trace(
        life.id,
        "answered",
        id,
        key,
        outcome,
        one.promised?.round ?? "",
        one.promised?.hash.slice(0, 10) ?? "",
      );
    },
    (error: unknown) => world.violate("request failed", id, stackOf(error)),
  );
  return one;
}
