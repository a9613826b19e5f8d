import type { Address } from "viem";
import { expect, test } from "vitest";
import { Certificates } from "./certificates.js";

const [A, B] = ["0x000000000000000000000000000000000000000a", "0x000000000000000000000000000000000000000b"] as const;

test("an end is kept while it cannot be read, and forgotten with the member", async () => {
  const readable = new Map([
    ["https://a", 1],
    ["https://b", 2],
  ]);
  let members: readonly Address[] = [A, B];
  const urls = { urlOf: (provider: Address) => (provider === A ? "https://a" : "https://b") };
  const certificates = new Certificates(urls, { certificateEnd: async (url) => readable.get(url) ?? null });
  // It ends after the first reading.
  const read = () => certificates.follow(() => members, AbortSignal.abort());
  await read();
  expect([...certificates.ends]).toEqual([
    [A, 1],
    [B, 2],
  ]);
  readable.clear();
  members = [B];
  await read();
  expect([...certificates.ends]).toEqual([[B, 2]]);
});

test("an end counts only for the URL that it was read at", async () => {
  let url: string | undefined = "https://a";
  const certificates = new Certificates(
    { urlOf: () => url },
    { certificateEnd: async () => (url === "https://a" ? 1 : null) },
  );
  const read = () => certificates.follow(() => [A], AbortSignal.abort());
  await read();
  for (url of ["https://c", undefined]) {
    await read();
    expect([...certificates.ends]).toEqual([]);
  }
});
