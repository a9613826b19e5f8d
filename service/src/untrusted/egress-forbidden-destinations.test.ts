import type { buildConnector } from "undici";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startHostileServer } from "../../test/support/hostile-server.js";
import { guardedConnector } from "./connector.js";
import { Egress } from "./egress.js";
import { Secrets } from "./secrets.js";

const LIMITS = { timeoutMs: 60_000, maxBytes: 1024 * 1024 };
const PUBLIC = "93.184.215.14";

/** URLs that must not be requested, whatever a resolver or a parser makes of them. */
const URLS: Record<string, readonly string[]> = {
  "an address in another base": ["https://2130706433/", "https://127.1/", "https://0177.0.0.1/", "https://0x7f000001/"],
  "an address as it is": ["https://127.0.0.1/", "https://93.184.215.14/", "https://[::1]/"],
  "IPv4 in IPv6": ["https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/"],
  unicode: ["https://ⓛocalhost.example/", "https://１２７.0.0.1/", "https://127。0。0。1/", "https://exаmple.com/"],
  "names of this machine": ["https://localhost/", "https://printer.local/", "https://metadata.google.internal/"],
  "names of networks": ["https://a.localhost/", "https://1.0.0.127.in-addr.arpa/"],
  "trailing dots": ["https://localhost./", "https://example.com./", "https://127.0.0.1./"],
  users: ["https://user:password@example.com/", "https://example.com@127.0.0.1/", "https://example.com%40127.0.0.1/"],
  ports: ["https://example.com:8443/", "https://example.com:443/", "https://example.com:/"],
  schemes: ["http://example.com/", "HTTPS://example.com/", "file:///etc/passwd", "//example.com/", "data:text/json,1"],
  "texts that parsers correct": ["https:/example.com/", "https:\\\\example.com/", "https://exam\tple.com/"],
  "white space or fragments": [" https://example.com/", "https://example.com/#@127.0.0.1/"],
  "other spellings": ["https://%6c%6f%63alhost/", "https://EXAMPLE.com/", "https://-a.example.com/"],
};

/** Answers of name servers to a harmless name. None of the addresses may be connected to. */
const ANSWERS: Record<string, readonly (readonly string[])[]> = {
  loopback: [["127.0.0.1"], ["127.255.255.254"], ["::1"], [PUBLIC, "127.0.0.1"], ["2606:4700::1111", "::1"]],
  unspecified: [["0.0.0.0"], ["::"], [PUBLIC, "0.0.0.0"]],
  private: [["10.0.0.1"], ["172.16.0.1"], ["172.31.255.255"], ["192.168.0.1"], ["fd00::1"]],
  "carrier-grade NAT": [["100.64.0.1"], ["100.127.255.254"]],
  "link-local": [["169.254.169.254"], ["fe80::1"], ["febf::1"]],
  multicast: [["224.0.0.1"], ["239.255.255.250"], ["ff02::1"]],
  reserved: [["192.0.0.1"], ["198.18.0.1"], ["203.0.113.1"], ["240.0.0.1"], ["255.255.255.255"], ["2001:db8::1"]],
  "IPv4 in IPv6": [["::ffff:7f00:1"], ["::ffff:5db8:d70e"], ["::7f00:1"], ["64:ff9b::7f00:1"], ["2002:7f00:1::"]],
  "IPv4 that is not public, behind NAT64": [
    ["64:ff9b::127.0.0.1"],
    ["64:ff9b::"],
    ["64:ff9b::a00:1"],
    ["64:ff9b::ac10:1"],
    ["64:ff9b::c0a8:1"],
    ["64:ff9b::a9fe:a9fe"],
    ["64:ff9b::6440:1"],
    ["64:ff9b::e000:1"],
    ["64:ff9b::ffff:ffff"],
    [PUBLIC, `64:ff9b::${PUBLIC}`, "64:ff9b::a00:1"],
  ],
  "public IPv4 in other forms": [
    ["64:ff9b:1::5db8:d70e"],
    ["64:ff9b:0:0:0:1:5db8:d70e"],
    ["64:ff9b::1:5db8:d70e"],
    ["64:ff9a::5db8:d70e"],
    ["::5db8:d70e"],
    ["2002:5db8:d70e::1"],
    ["2001:0:5db8:d70e::1"],
  ],
  "Teredo and others": [["2001:0:7f00:1::1"], ["fec0::1"], ["5f00::1"], ["100::1"], ["3fff::1"]],
};

const answers = new Map<string, (readonly string[])[]>();
const dialled: string[] = [];
const server = await startHostileServer();
let egress: Egress;

/** Records the address that would be dialled, and connects to the hostile server on loopback instead. */
const record: buildConnector.connector = (options, callback) => {
  dialled.push(`${options.hostname} as ${options.servername}`);
  server.dial(options, callback);
};

/** The last answer is repeated. */
async function resolve(name: string): Promise<readonly string[]> {
  const left = answers.get(name) ?? [];
  return (left.length > 1 ? left.shift() : left[0]) ?? [];
}

beforeEach(() => {
  answers.clear();
  dialled.length = 0;
  egress = new Egress(Secrets.NONE, {}, guardedConnector(resolve, record));
  return () => egress.close();
});

afterAll(() => server.close());

const get = (url: string) => egress.fetchText({ url, method: "GET" }, LIMITS);

describe.each(Object.entries(URLS))("a URL with %s", (_, urls) => {
  test.each(urls)("is not requested: %j", async (url) => {
    answers.set("example.com", [[PUBLIC]]);
    expect(await get(url)).toMatchObject({ ok: false, error: { code: "forbidden" } });
    expect(dialled).toEqual([]);
  });
});

describe.each(Object.entries(ANSWERS))("a name that resolves to %s", (_, all) => {
  test.each(all.map((addresses) => [addresses.join(" and "), addresses] as const))(
    "is not connected to: %s",
    async (_, addresses) => {
      answers.set("api.example.com", [addresses]);
      expect(await get("https://api.example.com/")).toMatchObject({ ok: false, error: { code: "forbidden" } });
      expect(dialled).toEqual([]);
    },
  );
});

test("a name server that answers differently each time does not lead the connection to another address than was checked", async () => {
  answers.set("rebinding.example.com", [[PUBLIC], ["127.0.0.1"]]);
  expect(await get("https://rebinding.example.com/json")).toMatchObject({ ok: true, value: { status: 200 } });
  expect(dialled).toEqual([`${PUBLIC} as rebinding.example.com`]);
});

test.each(["http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "//127.0.0.1/", "/elsewhere"])(
  "a redirect to %s is not followed",
  async (location) => {
    answers.set("api.example.com", [[PUBLIC]]);
    const url = `https://api.example.com/redirect?to=${encodeURIComponent(location)}`;
    expect(await get(url)).toMatchObject({ ok: false, error: { code: "redirected" } });
    expect(dialled).toEqual([`${PUBLIC} as api.example.com`]);
    expect(server.requests.map(({ url }) => url)).not.toContain("/elsewhere");
  },
);
