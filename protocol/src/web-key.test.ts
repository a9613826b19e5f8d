import fc from "fast-check";
import { type Hex, hexToString, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { MAX_KEY_BYTES, matchesKeyForm, parseKey } from "./key.js";
import { MAX_SPEC_BYTES, parseWebKey, specHash, webKey } from "./web-key.js";

const HASH: Hex = `0x${"5a".repeat(32)}`;
const DIGITS = HASH.slice(2);

/** A text of whole characters, of any plane. */
const argument = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !/[\ud800-\udfff]/u.test(text));

describe("a Web Oracle key", () => {
  it("is read back as what it was written from", () => {
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 6 }), (args) => {
        const key = webKey({ specHash: HASH, args });
        fc.pre(key.ok);
        expect(matchesKeyForm("WEB_ORACLE", key.value)).toBe(true);
        expect(parseKey(hexToString(key.value))).toEqual(key);
        expect(parseWebKey(key.value)).toEqual({ ok: true, value: { specHash: HASH, args } });
      }),
      { numRuns: 500 },
    );
  });

  it("has one spelling: whatever is read is written the same", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "/",
        "%",
        "%2F",
        "%2f",
        "%E2%82%AC",
        "%C0%AF",
        "%00",
        ".",
        "~",
        "!",
        "'",
        "(",
        "*",
        " ",
        "+",
        "é",
      ),
      fc.string({ maxLength: 3 }),
    );
    let read = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const key = stringToHex(`WEB/${DIGITS}${pieces.join("")}`);
        const parsed = parseWebKey(key);
        if (!parsed.ok) return;
        read += 1;
        expect(webKey(parsed.value)).toEqual({ ok: true, value: key });
      }),
      { numRuns: 2_000 },
    );
    expect(read).toBeGreaterThan(50);
  });

  it.each([
    [[], ""],
    [["London"], "/London"],
    [[""], "/"],
    [["", ""], "//"],
    [["São Paulo", "a/b"], "/S%C3%A3o%20Paulo/a%2Fb"],
    [["-._~!*'()"], "/-._~%21%2A%27%28%29"],
    [["100 %"], "/100%20%25"],
    [["€", "😀"], "/%E2%82%AC/%F0%9F%98%80"],
    [["\0"], "/%00"],
  ])("of the arguments %j ends in %s", (args, end) => {
    const key = webKey({ specHash: HASH, args });
    expect(key).toEqual({ ok: true, value: stringToHex(`WEB/${DIGITS}${end}`) });
  });

  it.each([
    ["%2f", "%2F"],
    ["%41", "A"],
    ["%2D", "-"],
    ["a b", "a%20b"],
    ["a+b", "a%2Bb"],
    ["!", "%21"],
    ["a=b&c", "a%3Db%26c"],
  ])("with the argument %s is refused: it is spelled %s", (written, legal) => {
    expect(parseWebKey(stringToHex(`WEB/${DIGITS}/${written}`))).toMatchObject({
      ok: false,
      error: expect.stringContaining(`"${legal}"`),
    });
  });

  it.each(["%", "%4", "%zz", "%C0%AF", "%ED%A0%80", "%FF", "a%"])(
    "with the argument %s is refused: no UTF-8",
    (written) => {
      expect(parseWebKey(stringToHex(`WEB/${DIGITS}/${written}`))).toMatchObject({
        ok: false,
        error: expect.stringContaining("UTF-8"),
      });
    },
  );

  it.each([
    ["of another form", "SPOTPX/ETH-USD"],
    ["with upper-case digits", `WEB/${DIGITS.toUpperCase()}`],
    ["with more digits", `WEB/${DIGITS}00`],
    ["with bytes that are not ASCII", `WEB/${DIGITS}/é`],
    ["with a newline at its end", `WEB/${DIGITS}/a\n`],
    ["that is too long", `WEB/${DIGITS}/${"a".repeat(MAX_KEY_BYTES)}`],
  ])("%s is refused", (_, text) => {
    expect(parseWebKey(stringToHex(text))).toMatchObject({ ok: false, error: expect.stringContaining('"WEB/"') });
  });

  it("has at most 256 bytes", () => {
    const room = MAX_KEY_BYTES - `WEB/${DIGITS}/`.length;
    expect(webKey({ specHash: HASH, args: ["a".repeat(room)] }).ok).toBe(true);
    expect(webKey({ specHash: HASH, args: ["a".repeat(room + 1)] })).toMatchObject({
      ok: false,
      error: expect.stringContaining("has 257"),
    });
  });

  it("is not made of a hash in upper case, or of half a character", () => {
    expect(webKey({ specHash: `0x${"5A".repeat(32)}`, args: [] }).ok).toBe(false);
    expect(webKey({ specHash: HASH, args: ["\ud800"] }).ok).toBe(false);
  });
});

describe("a spec's hash", () => {
  it("is keccak256 of its bytes", () => {
    expect(specHash("0x7b7d")).toEqual({
      ok: true,
      value: "0xb48d38f93eaa084033fc5970bf96e559c33c4cdc07d889ab00b4d63f9590739d",
    });
  });

  it("is of 1 to 8,192 bytes", () => {
    expect(specHash("0x").ok).toBe(false);
    expect(specHash(`0x${"20".repeat(MAX_SPEC_BYTES)}`).ok).toBe(true);
    expect(specHash(`0x${"20".repeat(MAX_SPEC_BYTES + 1)}`)).toMatchObject({
      ok: false,
      error: expect.stringContaining("has 8193"),
    });
  });
});
