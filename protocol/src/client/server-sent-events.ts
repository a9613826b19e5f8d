/** One event of a stream. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Awaits a network operation and converts its failures. */
export type MapNetworkErrors = <T>(work: Promise<T>) => Promise<T>;

/** Reads the events of a `text/event-stream` body. It supports what operators use: names, but no ids. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  mapNetworkErrors: MapNetworkErrors,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let part = await mapNetworkErrors(reader.read()); !part.done; part = await mapNetworkErrors(reader.read())) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) yield parseEvent(block);
    }
  } finally {
    // The rest of an unfinished stream is not needed. Cancelling a failed one throws, which does not matter.
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): ServerSentEvent {
  const lines = block.split(/\r?\n/);
  const all = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  return { event: all("event").at(-1) ?? "message", data: all("data").join("\n") };
}
