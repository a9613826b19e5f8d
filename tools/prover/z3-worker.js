// The thread in which Z3 answers the model checker's queries: in SMT-LIB, one at a time.

import { parentPort, workerData } from "node:worker_threads";
import { init } from "z3-solver";

const { signal, text } = workerData;
const { Z3 } = await init();

/** @param {string} query */
async function solve(query) {
  const context = Z3.mk_context(Z3.mk_config());
  try {
    return await Z3.eval_smtlib2_string(context, query);
  } finally {
    Z3.del_context(context);
  }
}

parentPort?.on("message", async (query) => {
  const answer = await solve(query).catch((error) => `unknown ${error}`);
  Atomics.store(signal, 1, new TextEncoder().encodeInto(answer, text).written);
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
});
