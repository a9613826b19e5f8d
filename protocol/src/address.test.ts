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
});
