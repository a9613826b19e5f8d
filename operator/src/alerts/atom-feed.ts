import type { Alert } from "./alert.js";

/**
 * Writes alerts as an Atom feed.
 *
 * @param startedAt The time of the feed as long as it has no entry, in seconds since 1970.
 */
export function toAtom(alerts: readonly Alert[], startedAt: number): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    "<title>Alerts of a Dataset Oracle operator</title>",
    "<id>urn:uuid:5d0b4cfe-5ac9-8d9e-8a5a-6f1c33a1f0d2</id>",
    "<author><name>Dataset Oracle operator</name></author>",
    `<updated>${iso(alerts[0]?.time ?? startedAt)}</updated>`,
    ...alerts.map(toEntry),
    "</feed>",
    "",
  ].join("\n");
}

function toEntry({ id, event, title, time, status, timestamp, ...alert }: Alert): string {
  const stored = timestamp === 0 ? "never stored" : `status ${status} at round ${timestamp}`;
  const content = `Network ${alert.network_id}, dataset ${alert.dataset}, key ${alert.key_hex}: ${stored}.`;
  return [
    "<entry>",
    `<id>urn:uuid:${id}</id>`,
    `<title>${escaped(title)}</title>`,
    `<updated>${iso(time)}</updated>`,
    `<category term="${event}"/>`,
    `<content type="text">${escaped(content)}</content>`,
    "</entry>",
  ].join("");
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** A key can contain any printable character. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
