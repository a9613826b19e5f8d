/**
 * Replaces the recovery of signers in libsecp256k1 by one that remembers. Operators in one process ask for the same that
 * each of them would compute by itself. This must be imported before any code of the product.
 */

import { createRequire } from "node:module";
import { LRUCache } from "lru-cache";

type EcdsaRecover = (rs: Uint8Array, parity: number, digest: Uint8Array, isCompressed: boolean) => Uint8Array;

const service = createRequire(import.meta.resolve("@dataset-oracle/service/keys/secp256k1-account"));
const library = service("secp256k1/bindings.js") as { ecdsaRecover: EcdsaRecover };
const recovered = new LRUCache<string, Uint8Array>({ max: 2_000 });
const { ecdsaRecover } = library;

library.ecdsaRecover = (rs, parity, digest, isCompressed) => {
  const id = Buffer.concat([rs, digest, Buffer.from([parity, Number(isCompressed)])]).toString("latin1");
  const publicKey = recovered.get(id) ?? ecdsaRecover(rs, parity, digest, isCompressed);
  recovered.set(id, publicKey);
  return publicKey.slice();
};
