import fc from "fast-check";
import { type Hex, hexToString, stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { parseKey } from "./dataset-key.js";
import { matchesKeyForm } from "./key-form.js";
import { MAX_KEY_BYTES } from "./max-key-bytes.js";
import { parseWebOracleKey, webOracleKey } from "./web-oracle-key.js";

const HASH: Hex = `0x${"5a".repeat(32)}`;
const DIGITS = HASH.slice(2);

/** A text of whole characters, of any plane. */
const argument = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !/[\ud800-\udfff]/u.test(text));

describe("a Web Oracle key", () => {
  test("is read back as what it was written from", () => {
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 6 }), (args) => {
        const key = webOracleKey({ specHash: HASH, args });
        fc.pre(key.ok);
        expect(matchesKeyForm("WEB_ORACLE", key.value)).toBe(true);
        expect(parseKey(hexToString(key.value))).toEqual(key);
        expect(parseWebOracleKey(key.value)).toEqual({ ok: true, value: { specHash: HASH, args } });
      }),
      { numRuns: 500 },
    );
  });

  test("has one spelling: whatever is read is written the same", () => {
    const piece = fc.oneof(
      fc.constantFrom(" ", ..."/ % %2F %2f %E2%82%AC %C0%AF %00 . ~ ! ' ( * + é".split(" ")),
      fc.string({ maxLength: 3 }),
    );
    let read = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const key = stringToHex(`WEB/${DIGITS}${pieces.join("")}`);
        const parsed = parseWebOracleKey(key);
        if (!parsed.ok) return;
        read += 1;
        expect(webOracleKey(parsed.value)).toEqual({ ok: true, value: key });
      }),
      { numRuns: 2_000 },
    );
    expect(read).toBeGreaterThan(50);
  });

  test.each([
    [[], ""],
    [[""], "/"],
    [["São Paulo", "a/b"], "/S%C3%A3o%20Paulo/a%2Fb"],
    [["-._~!*'()"], "/-._~%21%2A%27%28%29"],
    [["€", "😀", "\0"], "/%E2%82%AC/%F0%9F%98%80/%00"],
  ])("of the arguments %j ends in %s", (args, end) => {
    const key = webOracleKey({ specHash: HASH, args });
    expect(key).toEqual({ ok: true, value: stringToHex(`WEB/${DIGITS}${end}`) });
  });

  test.each([
    ["an argument with another spelling", `WEB/${DIGITS}/%2f`, '"%2F"'],
    ["a plus", `WEB/${DIGITS}/a+b`, '"a%2Bb"'],
    ["half of an encoding", `WEB/${DIGITS}/%4`, "UTF-8"],
    ["an overlong slash", `WEB/${DIGITS}/%C0%AF`, "UTF-8"],
    ["another form", "SPOTPX/ETH-USD", '"WEB/"'],
    ["bytes that are not ASCII", `WEB/${DIGITS}/é`, '"WEB/"'],
    ["too many bytes", `WEB/${DIGITS}/${"a".repeat(MAX_KEY_BYTES)}`, '"WEB/"'],
  ])("with %s is refused, and the error says how it is spelled", (_, text, hint) => {
    const error = expect.stringContaining(hint);
    expect(parseWebOracleKey(stringToHex(text))).toMatchObject({ ok: false, error });
  });

  test("has at most 256 bytes", () => {
    const room = MAX_KEY_BYTES - `WEB/${DIGITS}/`.length;
    expect(webOracleKey({ specHash: HASH, args: ["a".repeat(room)] }).ok).toBe(true);
    expect(webOracleKey({ specHash: HASH, args: ["a".repeat(room + 1)] })).toMatchObject({
      ok: false,
      error: expect.stringContaining("has 257"),
    });
  });

  test("is not made of a hash in upper case, or of half a character", () => {
    expect(webOracleKey({ specHash: `0x${"5A".repeat(32)}`, args: [] }).ok).toBe(false);
    expect(webOracleKey({ specHash: HASH, args: ["\ud800"] }).ok).toBe(false);
  });
});
