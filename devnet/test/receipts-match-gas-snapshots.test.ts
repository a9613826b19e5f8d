import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, createTestClient, type Hex, http, publicActions, walletActions } from "viem";
import { expect, it } from "vitest";
import { startAnvil } from "../src/anvil.js";

/** test/gas/GasFixture.sol writes its measurements here. */
const FOLDER = join(ROOT, ".devnet/gas");

/** The chain id of forge's tests, for which the providers signed. */
const CHAIN_ID = 31_337;

interface Measured {
  readonly name: string;
  readonly to: Address;
  readonly data: Hex;
  /** The block's, in seconds since 1970. */
  readonly timestamp: number;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** The recorded gas of each transaction. */
const snapshots: Record<string, string> = {
  ...readJson(join(ROOT, "snapshots/update.json")),
  ...readJson(join(ROOT, "snapshots/batch.json")),
  ...readJson(join(ROOT, "snapshots/consumer-update.json")),
  ...readJson(join(ROOT, "snapshots/accuse.json")),
};

it("anvil's receipts have the gas of the snapshots for the same calldata", { timeout: 600_000 }, async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  await promisify(execFile)(foundryBinary("forge"), ["test", "--isolate", "--match-path", "test/gas/*"], {
    cwd: ROOT,
    env: { ...foundryEnv(), RECORD_GAS: "true", FORGE_SNAPSHOT_CHECK: "true" },
  });
  const files = readdirSync(FOLDER).filter((file) => !file.endsWith(".state.json"));

  const receipts: Record<string, string> = {};
  for (const file of files) {
    const measured: Measured = readJson(join(FOLDER, file));
    const state = readJson(join(FOLDER, file.replace(/json$/, "state.json")));
    receipts[measured.name] = await gasOnAnvil(measured, state);
  }
  expect(receipts).toEqual(snapshots);
});

interface Account {
  readonly balance: Hex;
  readonly code: Hex;
  readonly storage: Record<Hex, Hex>;
}

async function gasOnAnvil({ to, data, timestamp }: Measured, state: Record<Address, Account>): Promise<string> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, timestamp: timestamp - 10 });
  try {
    const chain = {
      id: CHAIN_ID,
      name: "anvil",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [anvil.url] } },
    };
    const client = createTestClient({ mode: "anvil", chain, transport: http() })
      .extend(publicActions)
      .extend(walletActions);
    // A block of another second would take the timestamp that is set for this one.
    await client.setIntervalMining({ interval: 0 });
    for (const [address, { balance, code, storage }] of Object.entries(state) as [Address, Account][]) {
      if (code === "0x") continue;
      await client.setCode({ address, bytecode: code });
      await client.setBalance({ address, value: BigInt(balance) });
      for (const [index, value] of Object.entries(storage)) {
        await client.setStorageAt({ address, index: index as Hex, value });
      }
    }
    await client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
    const [account] = await client.getAddresses();
    if (account === undefined) throw new Error("anvil has no account.");
    const hash = await client.sendTransaction({ account, to, data, gas: 10_000_000n });
    await client.mine({ blocks: 1 });
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    expect(receipt.status).toBe("success");
    return receipt.gasUsed.toString();
  } finally {
    await anvil.close();
  }
}
