import { describe, expect, test } from "vitest";
import vectors from "../vectors/keys.json" with { type: "json" };
import { keyToAscii, parseKey, spotPriceKey } from "./dataset-key.js";
import { MAX_KEY_BYTES } from "./max-key-bytes.js";

const ETH_USD = "0x53504f5450582f4554482d555344";

describe("parseKey", () => {
  test.each(vectors.texts)("reads $text as the vectors do", ({ text, hex, refused }) => {
    const key = parseKey(text);
    if (refused) expect(key.ok).toBe(false);
    else expect(key).toEqual({ ok: true, value: hex });
  });

  test.each([
    ["0X53", "lower-case x"],
    ["0x5", "odd number"],
    ["0xSPOTPX/ETH-USD", "not a hex digit"],
    ["SPOTPX/ÉTH-USD", "Write the key in hex"],
    ["", "empty. Write the key"],
    ["0x", "Write the key"],
    ["x".repeat(MAX_KEY_BYTES + 1), "Write a shorter one"],
    [`0x${"00".repeat(MAX_KEY_BYTES + 1)}`, "has 257"],
  ])("says how to fix %s", (text, hint) => {
    expect(parseKey(text)).toMatchObject({ ok: false, error: expect.stringContaining(hint) });
  });
});

describe("keyToAscii", () => {
  test("turns every ASCII key back into its text", () => {
    for (const { text, hex } of vectors.texts) {
      if (hex !== undefined && !text.startsWith("0x")) expect(keyToAscii(hex as `0x${string}`)).toBe(text);
    }
  });

  test.each([
    ["no bytes", "0x"],
    ["a newline at the end", `${ETH_USD}0a`],
    ["a byte order mark, which decoders drop", `0xefbbbf${ETH_USD.slice(2)}`],
    ["UTF-8", "0xc389"],
    ["delete", "0x7f"],
  ] as const)("has no text for %s", (_, key) => {
    expect(keyToAscii(key)).toBeNull();
  });
});

describe("spotPriceKey", () => {
  test.each(["", "ETH", "eth-usd", "ETH-USD-EUR", "ETH-USD\n", "ABCDEFGHIJKLMNOPQ-USD"])(
    "refuses the pair %j",
    (pair) => {
      expect(() => spotPriceKey(pair)).toThrow("is not a pair");
    },
  );
});
