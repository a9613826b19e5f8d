/** One event of a stream. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Waits for the network, and names its failures. */
export type Reach = <T>(work: Promise<T>) => Promise<T>;

/** The events of a `text/event-stream` body, as far as an operator uses them: with a name, and without ids. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  reach: Reach,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let part = await reach(reader.read()); !part.done; part = await reach(reader.read())) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) yield parseEvent(block);
    }
  } finally {
    // Nothing more is wanted of a stream that is not at its end; one that failed has nothing left to cancel.
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): ServerSentEvent {
  const lines = block.split(/\r?\n/);
  const all = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  return { event: all("event").at(-1) ?? "message", data: all("data").join("\n") };
}
