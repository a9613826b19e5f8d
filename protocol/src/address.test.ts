import { describe, expect, test } from "vitest";
import { parseAddress } from "./address.js";

const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const DIGITS = CHECKSUMMED.slice(2);

describe("parseAddress", () => {
  test.each([
    ["checksummed", CHECKSUMMED],
    ["all lower case", `0x${DIGITS.toLowerCase()}`],
    ["all upper case", `0x${DIGITS.toUpperCase()}`],
  ])("takes one %s, and answers with the checksum", (_, text) => {
    expect(parseAddress(text)).toEqual({ ok: true, value: CHECKSUMMED });
  });

  test("refuses a wrong checksum, and shows the way around it", () => {
    const wrong = CHECKSUMMED.replace("aA", "Aa");
    expect(parseAddress(wrong)).toMatchObject({ ok: false, error: expect.stringContaining(wrong.toLowerCase()) });
  });

  test.each([
    ["nothing", ""],
    ["0X", `0X${DIGITS}`],
    ["41 digits", `${CHECKSUMMED}0`],
    ["a letter that is no digit", `0x${"g".repeat(40)}`],
    ["a newline after", `${CHECKSUMMED}\n`],
  ])("refuses %s", (_, text) => {
    expect(parseAddress(text)).toEqual({ ok: false, error: 'This is not an address. Write "0x" and 40 hex digits.' });
  });

  test.each([
    [DIGITS, "without its beginning"],
    [`xdc${DIGITS}`, "as XDC spells it"],
    [`eth:${CHECKSUMMED}`, "with the short name of a chain"],
    ["vitalik.eth", "a name"],
    ["XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS", "in ICAP form"],
    ["one1a50tun737ulcvwy0yvve0pvu5skq0kjargvhwe", "in Bech32"],
    ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "as TRON spells it"],
    ["0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD", `the checksum of Rootstock (EIP-1191). Write ${CHECKSUMMED}.`],
  ])("says what %s is", (text, what) => {
    expect(parseAddress(text)).toMatchObject({ ok: false, error: expect.stringContaining(what) });
  });
});
