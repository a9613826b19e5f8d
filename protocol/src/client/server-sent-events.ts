/** One event of a stream. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Parses the events of a `text/event-stream` body. It supports what operators use: names, but no ids.
 *
 * @param parts The body's text, divided anywhere.
 */
export async function* serverSentEvents(parts: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let text = "";
  for await (const part of parts) {
    const blocks = (text + part).split(/\r?\n\r?\n/);
    text = blocks.pop() ?? "";
    for (const block of blocks) yield parseEvent(block);
  }
}

function parseEvent(block: string): ServerSentEvent {
  const lines = block.split(/\r?\n/);
  const all = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  return { event: all("event").at(-1) ?? "message", data: all("data").join("\n") };
}
