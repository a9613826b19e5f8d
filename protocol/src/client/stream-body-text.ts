/**
 * Reads the body of a response as text, part by part. Cancels the body when the consumer stops iterating.
 *
 * The signal that was passed to `fetch` is not enough for a body: in Node 20 and 22 it has no effect on one whose response
 * has been garbage-collected.
 *
 * @param signal Ends the reading. Its reason is thrown.
 */
export async function* streamBodyText(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  // Cancelling ends a read that is under way. It throws if the body has failed, which the read reports.
  const cancel = () => reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  try {
    signal.throwIfAborted();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield decoder.decode(part.value, { stream: true });
    }
    signal.throwIfAborted();
    // A body that ends within a character ends with a replacement character.
    const rest = decoder.decode();
    if (rest !== "") yield rest;
  } finally {
    signal.removeEventListener("abort", cancel);
    await cancel();
  }
}
