import { SignedStatement } from "@dataset-oracle/protocol/node-wire";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Hex } from "viem";
import type { Dataset, Network } from "../network.js";
import { readStatement } from "../statements/statement.js";
import { readNodeAnswer } from "./node-answer.js";
import type { NodeHttp } from "./node-http.js";
import { type Node, type Nodes, othersOf } from "./nodes.js";

/** The path at which a node shows the reports that it holds. It is below the base URL. */
export const REPORTS_PATH = "/reports";

const DEADLINE_MS = 2_000;
/** Room for the rows of a committee of 60 members for a hundred keys. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** The most nodes that are asked. */
const MAX_ASKED = 32;

const answer = TypeCompiler.Compile(Type.Array(SignedStatement));

/** Fetches what other nodes hold. It is one hop: they ask nobody else. */
export class RelayedStatements {
  constructor(
    private readonly nodes: Nodes,
    private readonly http: NodeHttp,
  ) {}

  /** True if there are other nodes to ask. */
  get hasOthers(): boolean {
    return othersOf(this.nodes).length > 0;
  }

  /** Asks all other nodes for what the committee signed about a key at a round, and holds what is so. */
  async fetch(network: Network, dataset: Dataset, key: Hex, round: bigint): Promise<void> {
    const query = `network_id=${network.chainId}&dataset=${dataset.address}&round=${round}&key=${key}`;
    await Promise.all(
      othersOf(this.nodes)
        .slice(0, MAX_ASKED)
        .map((node) => this.#ask(node, network, dataset, query)),
    );
  }

  async #ask({ url }: Node, network: Network, dataset: Dataset, query: string): Promise<void> {
    const limits = { timeoutMs: DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES };
    const got = await this.http.get(url, `${REPORTS_PATH}?${query}`, limits);
    const statements = readNodeAnswer(answer, got) ?? [];
    for (const json of statements.slice(0, dataset.committee.current.members.length)) {
      const read = readStatement(network, json);
      if (read.ok) network.statements.add(read.value.dataset, read.value.statement);
    }
  }
}
