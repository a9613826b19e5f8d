import { SignedStatement } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Hex } from "viem";
import type { Dataset, Network } from "../network.js";
import { readStatement } from "../statements/statement.js";
import { type Node, othersOf } from "./node-list.js";
import { readNodeAnswer } from "./read-node-answer.js";

/** The path at which a node shows the reports that it holds. It is below the base URL. */
export const REPORTS_PATH = "/reports";

const DEADLINE_MS = 2_000;
/** Room for the rows of a committee of 60 members for a hundred keys. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** The most nodes that are asked. */
const MAX_ASKED = 32;

const answer = TypeCompiler.Compile(Type.Array(SignedStatement));

/**
 * Asks up to 32 other nodes for what the committee signed about a key at a round, and holds the answers that are valid.
 * Those nodes ask nobody else.
 */
export async function fetchReportsFromNodes(
  network: Network,
  dataset: Dataset,
  key: Hex,
  round: bigint,
): Promise<void> {
  const query = `network_id=${network.chainId}&dataset=${dataset.address}&round=${round}&key=${key}`;
  const limits = { timeoutMs: DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES };
  const ask = async ({ url }: Node) => {
    const got = await network.http.get(url, `${REPORTS_PATH}?${query}`, limits);
    const statements = readNodeAnswer(answer, got) ?? [];
    for (const json of statements.slice(0, dataset.committee.current.members.length)) {
      const read = readStatement(network, json);
      if (read.ok) network.statements.add(read.value.dataset, read.value.statement);
    }
  };
  await Promise.all(othersOf(network.nodes).slice(0, MAX_ASKED).map(ask));
}
