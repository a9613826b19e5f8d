import { decodeUpdate } from "@dataset-oracle/protocol/decode-update";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import type { LastUpdate } from "@dataset-oracle/protocol/wire-data";
import { type Static, Type } from "@sinclair/typebox";
import { type Address, getAddress, type Hex, hexToBigInt } from "viem";
import { readHistory } from "../chain/history.js";
import { Bytes32, Data, requestAs, requestQuantity } from "../chain/rpc.js";
import type { DataPoint } from "../data-point.js";
import type { Operator } from "../operator.js";
import { formatValue } from "../update/answer.js";

const AccountAddress = Type.Unsafe<Address>(Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }));

const Transaction = Type.Union([
  Type.Null(),
  Type.Object({ hash: Bytes32, from: AccountAddress, to: Type.Union([AccountAddress, Type.Null()]), input: Data }),
]);

/** The newest update of a data point in the blocks that the operator looks at; null when there is none. */
export async function readLastUpdate(operator: Operator, dataPoint: DataPoint): Promise<LastUpdate | null> {
  const { network, dataset, key } = dataPoint;
  const { rpc, historyBlocks, chainId } = network;
  const head = Number(await requestQuantity(rpc, "eth_blockNumber", []));
  const span = { from: Math.max(0, head - historyBlocks + 1), to: head, limit: 1 };
  const [update] = (await readHistory(rpc, dataset.address, key, span, operator.clock)).updates;
  if (update === undefined) return null;
  const sent = await requestAs(rpc, Transaction, "eth_getTransactionByHash", [update.transactionHash]);
  const relayed = sent === null ? null : await readReports(sent, { chainId, dataset: dataset.address, key });
  const round = relayed?.round === update.timestamp ? relayed : null;
  const values = round?.reports.flatMap(({ outcome, value }) => (outcome === "OK" ? [value] : [])) ?? [];
  return {
    transaction_hash: update.transactionHash,
    block_number: update.blockNumber,
    carrier: sent === null ? null : getAddress(sent.from),
    reports: round?.reports.map((report) => ({ ...report, value: formatValue(dataset.kind, report.value) })) ?? null,
    absentees: [...(round?.absentees ?? [])],
    spread: spreadOf(dataset.kind, values),
  };
}

/** An update that another contract relayed does not show its reports in the transaction. */
function readReports(
  { to, input }: NonNullable<Static<typeof Transaction>>,
  dataPoint: Parameters<typeof decodeUpdate>[1],
): ReturnType<typeof decodeUpdate> {
  if (to === null || getAddress(to) !== dataPoint.dataset) return Promise.resolve(null);
  return decodeUpdate(input, dataPoint);
}

function spreadOf(kind: DatasetKind, values: readonly Hex[]): string | null {
  const [first, ...others] = values.map((value) => hexToBigInt(value));
  if (kind === "majority" || first === undefined) return null;
  let [lowest, highest] = [first, first];
  for (const value of others) {
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  return (highest - lowest).toString();
}
