import { freePort } from "@dataset-oracle/devnet/free-ports";
import Fastify from "fastify";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Node } from "../../src/peers/node-list.js";
import { TRANSACTIONS_PATH } from "../../src/peers/share-transactions.js";
import { closeAtEnd } from "./close-at-end.js";
import type { Provider } from "./stub-providers.js";

export type StubNode = Awaited<ReturnType<typeof startStubNode>>;

/** Starts what the other nodes see of a second node: it takes the transactions that they share, and shows its own. */
export async function startStubNode(providers: readonly Provider[]) {
  const [own, second] = [privateKeyToAccount(generatePrivateKey()), privateKeyToAccount(generatePrivateKey())] as const;
  const server = Fastify({ forceCloseConnections: true });
  closeAtEnd(() => server.close());
  const node = {
    /** The account of the node that is tested. */
    own,
    account: second,
    /** The transactions that it was sent. */
    shared: [] as Hex[],
    /** The datasets and rounds for whose transactions it was asked. */
    asked: new Set<string>(),
    /** The transactions that it shows to those who ask for a round. */
    shows: async (_round: number): Promise<readonly Hex[]> => [],
  };
  server.post(TRANSACTIONS_PATH, async ({ body }) => {
    node.shared.push((body as { raw: Hex }).raw);
    return {};
  });
  server.get(TRANSACTIONS_PATH, async ({ query }) => {
    const { dataset, round } = query as { dataset: string; round: string };
    node.asked.add(`${dataset} ${round}`);
    const raws = await node.shows(Number(round));
    return raws.map((raw) => ({ network_id: 42, raw }));
  });
  const port = await freePort();
  await server.listen({ port });
  const peers = [own, second].map(({ address: submitter }, i): Node => {
    return { provider: providers[i]?.address ?? "0x", url: `http://127.0.0.1:${i === 0 ? 9 : port}`, submitter };
  });
  return Object.assign(node, { peers });
}
