import { onchainTable, primaryKey, relations } from "ponder";

/** A stored round of a key. */
export const update = onchainTable(
  "update",
  (t) => ({
    dataset: t.hex().notNull(),
    keyHash: t.hex().notNull(),
    /** In seconds since 1970. */
    round: t.bigint().notNull(),
    status: t.text().notNull(),
    /** The 32 bytes that a query returns: 0 unless the status is OK. */
    output: t.hex().notNull(),
    /** The same as a number: a price is scaled by 1e18. */
    value: t.bigint().notNull(),
    block: t.bigint().notNull(),
    transaction: t.hex().notNull(),
  }),
  (t) => ({ pk: primaryKey({ columns: [t.dataset, t.keyHash, t.round] }) }),
);

/** The text of a key, or its bytes in hex. Events have only its hash. */
export const key = onchainTable(
  "key",
  (t) => ({ dataset: t.hex().notNull(), keyHash: t.hex().notNull(), text: t.text().notNull() }),
  (t) => ({ pk: primaryKey({ columns: [t.dataset, t.keyHash] }) }),
);

export const updateRelations = relations(update, ({ one }) => ({
  key: one(key, { fields: [update.dataset, update.keyHash], references: [key.dataset, key.keyHash] }),
}));
