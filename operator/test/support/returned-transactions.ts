import { GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/test-support/geth";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { chainOf, startChain, type TestChain } from "./chain.js";
import { type RunningOperator, startOperator } from "./operator.js";
import { startProviders } from "./stub-providers.js";

type Unsent = Required<Pick<DataAnswer, "transaction" | "transaction_request">>;

/** Where a transaction is sent: from the node's account, or from that of the key. Both have Ether. */
interface Sender {
  readonly chain: TestChain;
  readonly privateKey: Hex;
}

/** Sends what an operator returned, as its JSON was parsed, and returns the hash. */
export type SendReturned = (unsent: Unsent, sender: Sender) => Promise<string>;

/** What is for nodes, in the place of what is for libraries. */
export const givenTheOther =
  (send: SendReturned): SendReturned =>
  ({ transaction }, sender) =>
    send({ transaction, transaction_request: transaction as never }, sender);

const CHAINS = {
  anvil: () => startChain(),
  geth: async () => chainOf({ ...(await startGeth()), mode: "geth" }, GETH_CHAIN_ID),
};

/** Tests that each client can send what an operator returns, on anvil, and on geth where it is compiled. */
export function testSending(clients: readonly (readonly [client: string, send: SendReturned])[]): void {
  describe.each(Object.keys(CHAINS) as (keyof typeof CHAINS)[])("on %s", (name) => {
    describe.skipIf(name === "geth" && !isGethCompiled())("the returned transaction", () => {
      const privateKey = generatePrivateKey();
      let chain: TestChain;
      let operator: RunningOperator;
      let dataset: Hex;

      beforeAll(async () => {
        const providers = await startProviders(4);
        chain = await CHAINS[name]();
        dataset = await chain.deploy(providers.map(({ address }) => address));
        await chain.fund(privateKeyToAccount(privateKey).address);
        operator = await startOperator([{ chain, datasets: [dataset], providers }]);
      });

      const cases = clients.map(([client, send], index) => [client, `SPOTPX/${index}-USD`, send] as const);
      test.each(cases)("can be sent unedited by %s", async (_, key, send) => {
        const answer = await operator.ask({ network_id: chain.chainId, dataset, key, broadcast: false });
        const hash = (await send(answer as DataAnswer & Unsent, { chain, privateKey })) as Hex;
        await chain.wait(hash);

        const { value, timestamp, transaction } = answer;
        const stored = { value: BigInt(value), updatedAt: BigInt(timestamp), status: "OK" };
        expect(await chain.query(dataset, key)).toEqual(stored);
        // Every client uses the operator's gas limit, and no estimate of its own.
        const sent = await chain.client.getTransaction({ hash });
        expect([sent.chainId, sent.gas]).toEqual([chain.chainId, BigInt(transaction?.gas ?? 0)]);
      });
    });
  });
}
