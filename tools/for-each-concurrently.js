/** @type {typeof import("./for-each-concurrently.js").forEachConcurrently} */
export async function forEachConcurrently(items, atOnce, work) {
  const queue = [...items].entries();
  const worker = async () => {
    for (const [index, item] of queue) await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
