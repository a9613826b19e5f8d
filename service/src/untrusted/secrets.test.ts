import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { buildConnector } from "undici";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startHostileServer } from "../../test/support/hostile-server.js";
import { guardedConnector } from "./connector.js";
import { Egress } from "./egress.js";
import { Secrets } from "./secrets.js";

const TOKEN = 'k/3+y=="\\x~7%9';

const load = (value: string) =>
  Secrets.load([{ host: "api.example.com", header: "x-key", env: "KEY" }], { KEY: value });

const unicode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a secret", () => {
  test("is read from a file, without the line break", () => {
    const folder = mkdtempSync(join(tmpdir(), "secret-"));
    const file = join(folder, "key");
    writeFileSync(file, `${TOKEN}'\n`);
    const secrets = Secrets.load([{ host: "api.example.com", header: "x-key", file }], {});
    expect(secrets.addTo({ url: "https://api.example.com/", method: "GET" }).headers).toEqual({ "x-key": `${TOKEN}'` });
  });

  test.each([
    [{ host: "A.example.com", header: "x-key", env: "KEY" }, "not a public host name"],
    [{ host: "https://a.example.com", header: "x-key", env: "KEY" }, "not a public host name"],
    [{ host: "a.example.com", header: "x-key" }, "exactly one of file and env"],
    [{ host: "a.example.com", env: "KEY" }, "exactly one of header and query"],
    [{ host: "a.example.com", header: "x-key", query: "k", env: "KEY" }, "exactly one of header and query"],
    [{ host: "a.example.com", header: "x-key", env: "SHORT" }, "8 or more"],
    [{ host: "a.example.com", header: "x-key", env: "LINES" }, "one line of"],
    [
      { host: "a.example.com", header: "x-key", env: "QUOTED" },
      "secrets/0: the variable QUOTED contains a single quote.",
    ],
    [{ host: "a.example.com", header: "x-key", file: "/nowhere" }, "ENOENT"],
  ])("is refused as %j, and not shown", (settings, problem) => {
    const env = { KEY: TOKEN, SHORT: "seven77", LINES: "two lines\nof secret", QUOTED: "single'quote" };
    const load = () => Secrets.load([settings], env);
    expect(load).toThrow(problem);
    expect(load).not.toThrow(/seven77|two lines|single'/);
  });
});

const server = await startHostileServer();
afterAll(() => server.close());

describe("an API's secret", () => {
  const inHeader = { host: "api.example.com", header: "authorization", env: "KEY" };
  const inQuery = { host: "api.example.com", query: "apikey", env: "KEY" };
  const token = "s3cret/token+value";

  function get(secrets: Secrets, path: string, dial = server.dial) {
    const egress = new Egress(
      secrets,
      {},
      guardedConnector(async () => ["93.184.215.14"], dial),
    );
    onTestFinished(() => egress.close());
    const limits = { timeoutMs: 60_000, maxBytes: 1024 * 1024 };
    return egress.fetchText({ url: `https://api.example.com${path}`, method: "GET" }, limits);
  }

  test("is sent to its host, in a header or the query, and is in no answer", async () => {
    const secrets = Secrets.load([{ ...inHeader }, { ...inQuery, env: "OTHER" }], {
      KEY: `Bearer ${token}`,
      OTHER: `query-${token}`,
    });
    const answer = await get(secrets, "/echo?a=b%20c");
    const sent = server.requests.at(-1);
    expect(sent?.headers.authorization).toBe(`Bearer ${token}`);
    expect(sent?.url).toBe(`/echo?a=b%20c&apikey=${encodeURIComponent(`query-${token}`)}`);
    expect(answer).toMatchObject({ ok: true, value: { text: expect.stringContaining("<secret>") } });
    for (const form of [token, encodeURIComponent(token), "s3cret"]) expect(JSON.stringify(answer)).not.toContain(form);
  });

  test("is sent to no other host", async () => {
    const secrets = Secrets.load([{ ...inHeader, host: "other.example.com" }], { KEY: token });
    await get(secrets, "/echo");
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
    expect(secrets.addTo({ url: "https://x.other.example.com/", method: "GET" }).headers).toEqual({});
  });

  test("is in no error", async () => {
    const secrets = Secrets.load([inQuery], { KEY: token });
    const dial: buildConnector.connector = (_, callback) => callback(new Error(`cannot reach ${token}`), null);
    const answer = await get(secrets, "/json", dial);
    expect(answer).toMatchObject({ ok: false, error: { code: "unreachable", detail: "cannot reach <secret>" } });
  });
});

describe("a secret that an answer repeats", () => {
  const forms: [form: string, write: (secret: string) => string][] = [
    ["as it is", (secret) => secret],
    ["as JSON", (secret) => JSON.stringify(secret).slice(1, -1)],
    ["in \\u escapes", (secret) => [...secret].map(unicode).join("")],
    ["as JSON within JSON", (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["percent-encoded", encodeURIComponent],
    ["percent-encoded in every character", (secret) => [...secret].map(percent).join("")],
    ["percent-encoded twice", (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ["as a form", (secret) => new URLSearchParams({ secret }).toString().slice("secret=".length)],
    ["in base64", base64],
    ["in base64 after a user's name", (secret) => base64(`u:${secret}`)],
    ["in base64 for URLs", (secret) => Buffer.from(`x${secret}`).toString("base64url")],
    ["in base64 as JSON escapes it", (secret) => base64(secret).replaceAll("/", "\\/").replaceAll("=", "\\u003d")],
    ["in hex", (secret) => Buffer.from(secret).toString("hex")],
  ];
  test.each(forms)("%s is removed", (_, write) => {
    for (const secret of ["s3cret/token+value=", "Bearer abc/def+ghi==", "12345678"]) {
      const clean = load(secret).removeFrom(`{"a":"before ${write(secret)} behind"}`);
      expect(clean).toMatch(/^\{"a":"before .*<secret>.* behind"\}$/);
      // Nothing is left from which the secret could be read, but for the word before a token, and ends in base64.
      expect(clean.replace("before", "").replace("behind", "").length).toBeLessThan(45);
    }
  });

  test("is in no parsed value, however each of its characters is written", () => {
    const spelling = fc.constantFrom<(character: string) => string>(
      (character) => JSON.stringify(character).slice(1, -1),
      unicode,
      (character) => (character === "/" ? "\\/" : JSON.stringify(character).slice(1, -1)),
    );
    const secrets = load(TOKEN);
    const length = TOKEN.length;
    fc.assert(
      fc.property(fc.array(spelling, { minLength: length, maxLength: length }), (spellings) => {
        const written = [...TOKEN].map((character, index) => spellings[index]?.(character)).join("");
        const text = `{"value":"${written}"}`;
        expect(JSON.parse(text).value).toBe(TOKEN);
        expect(JSON.parse(secrets.removeFrom(text)).value).toBe("<secret>");
      }),
      { numRuns: 500 },
    );
  });
});

test("text without a secret stays as it is", () => {
  const text = JSON.stringify({ a: 's3cret/token \\"\n', b: [1.5, "%2F%2B", "\u003d"], c: base64("something else") });
  expect(load("s3cret/token+value=").removeFrom(text)).toBe(text);
});

test("a megabyte of escapes is read in a moment", () => {
  const secrets = load('\\\\\\\\////""""%%%%2525');
  for (const text of ["\\".repeat(1_000_000), "%25".repeat(300_000), "%".repeat(1_000_000)]) {
    expect(secrets.removeFrom(text).length).toBeLessThanOrEqual(text.length + 10_000_000);
  }
});
