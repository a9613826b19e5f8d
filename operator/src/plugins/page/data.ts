import { agreesWith } from "@dataset-oracle/protocol/agreed-value";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { type DecodedReport, type DecodedUpdate, decodeUpdate } from "@dataset-oracle/protocol/decode-update-reports";
import {
  type Agreement,
  DataPointAnswer,
  DataQuery,
  type LastUpdate,
} from "@dataset-oracle/protocol/http-schemas/data";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { recoverSignerSync } from "@dataset-oracle/service/crypto/recover-signer-sync";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/openapi";
import { LRUCache } from "lru-cache";
import { type Address, getAddress, type Hex, hexToBigInt, hexToBytes } from "viem";
import { readView } from "../../dataset/contract.js";
import type { Dataset } from "../../dataset/dataset.js";
import { readStored } from "../../dataset/stored-values.js";
import type { PastUpdate } from "../../dataset/update-events.js";
import { findDataPoint } from "../../routes/find-data-point.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { readTransaction } from "../../rpc/transactions.js";
import { SingleFlight } from "../../single-flight.js";
import { findHistory, rangeOf } from "./history.js";
import type { ShownNetwork, ShownNetworkOf } from "./overview.js";

/** How long an answer is reused before the data point is read again. */
const REMEMBER_MS = 1_000;

const schema = {
  tags: ["data"],
  operationId: "readDataPoint",
  summary: "Reads a data point as it is stored, with the reports behind it.",
  description:
    "The reports are read from the transaction that stored the value. The request sends no transaction and costs nothing.",
  querystring: DataQuery,
  response: { 200: jsonAnswer("The data point.", DataPointAnswer), ...problemsOf("readDataPoint") },
};

/** Adds `GET /data`. */
export function addData(app: App, shownOf: ShownNetworkOf, requestsPerMinute: number): void {
  const { context } = app.operator;
  const shared = new SingleFlight<DataPointAnswer>(context.clock, { rememberMs: REMEMBER_MS });
  const mined = new MinedReports();

  async function read(dataset: Dataset, key: Hex): Promise<DataPointAnswer> {
    const shown = shownOf(dataset);
    const [price, stored] = await Promise.all([readView(dataset, "queryPrice"), readStored(dataset, key, "latest")]);
    const rounds = stored.updatedAt === 0n ? null : await readLastRounds(shown, dataset, key, mined);
    return {
      network_id: dataset.chainId,
      dataset: dataset.address,
      ...(await shown.describe(dataset, key, stored)),
      variables: (await shown.specOf(key))?.variables ?? null,
      query_price: price.toString(),
      ...(rounds ?? { last_update: null, agreement: null, last_rounds: [] }),
    };
  }

  // A rate limit of its own, so that looking does not use up the data requests of a caller.
  const config = { rate: { name: "data", perMinute: requestsPerMinute } };
  app.get("/data", { schema, config }, async ({ query }) => {
    const { dataset, key } = findDataPoint(app.operator, query, "invalid_query");
    const id = `${dataset.chainId} ${dataset.address} ${key}`;
    return shared.run(id, () => read(dataset, key)).result;
  });
}

/** This many of the last rounds are shown, and the providers' agreement is counted over them. */
const ROUNDS = 10;
/** How long those before the newest are looked for. What one request has read, the next finds in memory. */
const ROUNDS_MS = 1_000;

/**
 * Reads the newest update of a data point in the blocks that the operator searches, who sent the last ones, and how
 * often each provider's report agreed with what was stored; null when there is none.
 */
async function readLastRounds({ past, plan }: ShownNetwork, dataset: Dataset, key: Hex, mined: MinedReports) {
  const range = rangeOf({}, await past.readHead(), plan.settings.historyBlocks);
  const find = async (limit: number, maxMs?: number) =>
    (await findHistory(past, dataset, key, { ...range, limit }, maxMs)).updates;
  let updates = await find(ROUNDS, ROUNDS_MS);
  // Of a key that is updated rarely, only the newest is looked for longer.
  if (updates.length === 0) updates = await find(1);
  const shown = await Promise.all(
    updates.slice(0, ROUNDS).map(async (one) => [one, await mined.read(dataset, key, one)] as const),
  );
  const [newest] = shown;
  if (newest === undefined) return null;
  const last_rounds = shown.map(([{ timestamp, transactionHash }, { sender }]) => {
    return { timestamp: Number(timestamp), transaction_hash: transactionHash, sender };
  });
  return { last_update: toLastUpdate(dataset, ...newest), agreement: agreementOf(dataset, shown), last_rounds };
}

function toLastUpdate({ kind }: Dataset, update: PastUpdate, { sender, reports }: MinedRound): LastUpdate {
  const values = reports?.reports.flatMap(({ outcome, value }) => (outcome === "OK" ? [value] : [])) ?? [];
  return {
    transaction_hash: update.transactionHash,
    block_number: update.blockNumber,
    carrier: sender,
    reports: reports?.reports.map((report) => ({ ...report, value: formatValue(kind, report.value) })) ?? null,
    absentees: [...(reports?.absentees ?? [])],
    spread: spreadOf(kind, values),
  };
}

function spreadOf(kind: DatasetKind, values: readonly Hex[]): string | null {
  // All have 32 bytes, so their text sorts as their numbers do.
  const sorted = values.toSorted();
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (kind === "majority" || lowest === undefined || highest === undefined) return null;
  return (hexToBigInt(highest) - hexToBigInt(lowest)).toString();
}

type ShownRound = readonly [update: PastUpdate, round: MinedRound];

/**
 * Counts, for each member of the committee, the rounds that it signed, and those in which it signed what was stored.
 */
function agreementOf(dataset: Dataset, shown: readonly ShownRound[]): Agreement {
  const rounds = shown.flatMap(([update, { reports }]) => (reports === null ? [] : [{ update, ...reports }]));
  const { members, toleranceBps } = dataset.committee.current;
  return {
    rounds: rounds.length,
    providers: members.map((provider: Address) => {
      const signed = rounds.flatMap(({ update, reports }) => {
        const report = reports.find((one) => one.provider === provider);
        return report === undefined ? [] : [agreesWithStored(dataset, toleranceBps, update, report)];
      });
      return { provider, signed: signed.length, agreed: signed.filter(Boolean).length };
    }),
  };
}

/** Reports whether a report agrees with what is stored, by the rule of the dataset's kind. */
function agreesWithStored(
  { kind }: Dataset,
  toleranceBps: bigint,
  stored: PastUpdate,
  { outcome, value }: DecodedReport,
): boolean {
  if (outcome !== stored.status || outcome !== "OK") return outcome === stored.status;
  return agreesWith(kind, stored.value, value, toleranceBps);
}

/** The transaction that stored an update, with the signed reports in it. */
interface MinedRound {
  /** The sender of the transaction; null if the node no longer has it. */
  readonly sender: Address | null;
  /** Null if the transaction does not show them, because another contract relayed the update. */
  readonly reports: Pick<DecodedUpdate, "reports" | "absentees"> | null;
}

const MAX_ROUNDS = 5_000;

/** Reads the reports behind stored updates, each once. */
class MinedReports {
  readonly #known = new LRUCache<string, MinedRound>({ max: MAX_ROUNDS });

  /** @throws RpcError */
  async read({ client, chainId, address }: Dataset, key: Hex, update: PastUpdate): Promise<MinedRound> {
    const name = `${chainId} ${address} ${key} ${update.transactionHash}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const sent = await readTransaction(client, update.transactionHash);
    if (sent === null) return { sender: null, reports: null };
    const isDirect = sent.to !== null && getAddress(sent.to) === address;
    const dataPoint = { chainId, dataset: address, key };
    const decoded = isDirect ? await decodeUpdate(sent.input, dataPoint, recover) : null;
    const round = { sender: getAddress(sent.from), reports: decoded?.round === update.timestamp ? decoded : null };
    this.#known.set(name, round);
    return round;
  }
}

const recover = async (digest: Hex, signature: Hex) => recoverSignerSync(hexToBytes(digest), signature);
