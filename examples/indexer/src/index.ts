import { ponder } from "ponder:registry";
import { key, update } from "ponder:schema";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";

ponder.on("Dataset:KeyAdded", async ({ event, context }) => {
  const { keyHash, key: bytes } = event.args;
  await context.db.insert(key).values({ dataset: event.log.address, keyHash, text: keyToAscii(bytes) ?? bytes });
});

ponder.on("Dataset:Updated", async ({ event, context }) => {
  const { keyHash, value: output, timestamp: round, status } = event.args;
  await context.db.insert(update).values({
    ...{ dataset: event.log.address, keyHash, round, output },
    status: QUERY_STATUSES[status] ?? String(status),
    value: BigInt(output),
    block: event.block.number,
    transaction: event.transaction.hash,
  });
});
