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
  let begun: string[] = [];
  let end = "";
  for await (const part of parts) {
    begun.push(part);
    // Only what is new is searched: an event that arrives in many small parts must not be read again with each.
    const isComplete = /\n\r?\n/.test(end + part);
    if (isComplete) {
      const blocks = begun.join("").split(/\r?\n\r?\n/);
      begun = [blocks.pop() ?? ""];
      for (const block of blocks) yield parseEvent(block);
    }
    end = `${isComplete ? begun[0] : end + part}`.slice(-2);
  }
}

function parseEvent(block: string): ServerSentEvent {
  const lines = block.split(/\r?\n/);
  const all = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  return { event: all("event").at(-1) ?? "message", data: all("data").join("\n") };
}
