import { type BatchHeader, batchReportDigest } from "@dataset-oracle/protocol/batch-report";
import type { SignedRow } from "@dataset-oracle/protocol/update";
import { type BatchReportRequest, SignedBatchReport } from "@dataset-oracle/protocol/wire";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Hex, hexToBigInt, hexToBytes } from "viem";
import { type Asked, callProvider, type Failure } from "./provider-call.js";
import { recoverSigner } from "./signer.js";

/** For 256 keys of 256 bytes in hex, and a value for each. */
const MAX_ANSWER_BYTES = 192 * 1024;
const signedRow = TypeCompiler.Compile(Type.Object(SignedBatchReport.properties));

/** What came of asking one provider for a row of a batch. */
export type RowAnswer = ({ readonly kind: "row" } & SignedRow) | Failure;

/** Asks one member of a committee for its row of a batch. */
export function askRow(header: BatchHeader, asked: Asked): Promise<RowAnswer> {
  const { provider } = asked;
  const request = toRequest(header);
  return callProvider<RowAnswer>(asked, "/report/batch", request, MAX_ANSWER_BYTES, (json, refuse) => {
    if (!signedRow.Check(json)) return refuse("invalid_report", "answered something that is not a row of a batch");
    const isOther =
      json.network_id !== request.network_id ||
      json.dataset !== request.dataset ||
      json.timestamp !== request.timestamp ||
      json.provider !== provider ||
      json.values.length !== header.keys.length;
    if (isOther) return refuse("other_report", "answered another row than it was asked for");

    const row = { missing: hexToBigInt(json.missing as Hex), values: json.values as Hex[] };
    const signature = json.signature as Hex;
    // The keys are those that were asked for, whatever the answer repeats: the signature is over them.
    const digest = hexToBytes(batchReportDigest({ ...header, ...row }));
    if (recoverSigner(digest, signature) !== provider) return refuse("wrong_signer", "sent a row that it did not sign");
    return { kind: "row", provider, ...row, signature };
  });
}

function toRequest({ chainId, dataset, keys, round }: BatchHeader): BatchReportRequest {
  return { network_id: chainId, dataset, keys: [...keys], timestamp: Number(round) };
}
