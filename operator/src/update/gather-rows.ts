import type { Committee } from "@dataset-oracle/protocol/committee-hash";
import { type BatchReportRequest, SignedBatchReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Hex, hexToBigInt } from "viem";
import type { Context } from "../process-context.js";
import type { ProviderRequest } from "../providers/ask-provider.js";
import type { Failure } from "../providers/failure.js";
import { postQuestion } from "../providers/post-question.js";
import type { RowStatement } from "../statements/statement.js";
import { askCommittee } from "./ask-committee.js";
import type { Batch } from "./batch.js";
import { answeredForOther, CONTRADICTED, firstDifference } from "./unusable-answers.js";

/** A provider's checked row of a batch, or why there is none. */
export type RowAnswer = RowStatement | Failure;

/** Room for 256 keys of 256 bytes in hex, and a value for each. */
const MAX_ROW_BYTES = 192 * 1024;

// Only the signed fields are checked. The rest of an answer, such as the sources used, is for people.
const signedRow = TypeCompiler.Compile(Type.Object(SignedBatchReport.properties));

/**
 * Asks a committee for its rows of a batch.
 *
 * @returns One answer for each member, in the committee's order.
 */
export function gatherRows(
  context: Context,
  { network, dataset, keys, round }: Batch,
  committee: Committee,
): Promise<readonly RowAnswer[]> {
  const expected: BatchReportRequest = {
    network_id: network.chainId,
    dataset: dataset.address,
    keys: [...keys],
    timestamp: Number(round),
  };
  const read: ProviderRequest<RowStatement>["read"] = (json, provider, fail) => {
    if (!signedRow.Check(json)) return fail("invalid_report", "answered with something other than a row of a batch");
    const difference =
      firstDifference(json, { ...expected, provider }) ??
      (json.values.length === keys.length ? null : "number of keys");
    if (difference !== null) return fail("other_report", answeredForOther(difference, json));
    // The signature is checked over the keys that were asked for, whatever keys the answer repeats.
    const row = { keys, round, missing: hexToBigInt(json.missing as Hex), values: json.values as Hex[] };
    const signature = json.signature as Hex;
    if (recoverSigner(dataset.digests.ofRow(row), signature) !== provider)
      return fail("wrong_signer", "sent a row that it did not sign");
    const answer = { kind: "row", provider, ...row, signature } as const;
    return network.statements.add(dataset, answer) === "contradicted" ? fail(...CONTRADICTED) : answer;
  };
  const limits = { timeoutMs: network.settings.providerTimeoutMs, maxBytes: MAX_ROW_BYTES };
  const posted = { path: "/report/batch", body: JSON.stringify(expected), limits } as const;
  return askCommittee<RowStatement>(context, network, committee, {
    ...{ dataset, round, key: keys[0] ?? "0x", kind: "row", read },
    send: (base, signal) => postQuestion(network.http, base, posted, signal),
    isAnswer: (held) => held.keys.join() === keys.join(),
    onTaken: () => {},
    isEnough: (answers) => {
      const rows = answers.filter(({ kind }) => kind === "row").length;
      return isQuorum(rows, committee.members.length - rows);
    },
  });
}
