import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount, toAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { type Chain, startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

let chain: Chain;
let providers: Provider[];
let dataset: Address;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
});

test("an account with a slow remote signer, which signs only transactions, sends updates", async () => {
  const elsewhere = privateKeyToAccount(generatePrivateKey());
  let signed = 0;
  const never = async (): Promise<never> => {
    throw new Error("Only transactions are signed.");
  };
  const account = toAccount({
    address: elsewhere.address,
    signMessage: never,
    signTypedData: never,
    async signTransaction(transaction, options) {
      signed++;
      await sleep(150);
      return elsewhere.signTransaction(transaction, options);
    },
  });
  const operator = await startOperator([{ chain, datasets: [dataset], providers }], { account });
  const body = (key: string) => ({ network_id: 42, dataset, key, broadcast: true });
  const keys = ["SPOTPX/A-USD", "SPOTPX/B-USD", "SPOTPX/C-USD"];
  await Promise.all(keys.map((key) => operator.ask(body(key), { prefer: "wait=20" })));
  for (const key of keys) expect((await chain.query(dataset, key)).status).toBe("OK");
  expect(signed).toBe(3);
  expect(await chain.nonce(account.address)).toBe(3);
  await operator.close();
});
