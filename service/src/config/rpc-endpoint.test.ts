import { expect, test } from "vitest";
import { addressOf, expandRpcEndpoint } from "./rpc-endpoint.js";

/** How a setting refers to a variable. */
const ref = (name: string) => `$\{${name}}`;
const ENV = { TOKEN: "k1&team=4", HEADER: "pa$word", QUOTED: "pa'ss", BROKEN: "a\nb", EMPTY: "" };

test("a URL and the headers of an endpoint have environment variables, as they are", () => {
  expect(expandRpcEndpoint(`https://a.example/?apikey=${ref("TOKEN")}`, "rpcUrls/0", ENV)).toBe(
    "https://a.example/?apikey=k1&team=4",
  );
  const given = { url: "https://a.example/", headers: { "x-api-key": ref("HEADER") } };
  expect(expandRpcEndpoint(given, "rpcUrls/0", ENV)).toEqual({ ...given, headers: { "x-api-key": "pa$word" } });
});

test.each([
  [`https://a/${ref("NONE")}`, `rpcUrls/0 uses ${ref("NONE")}, but the variable NONE is unset or empty. Set it.`],
  [`https://a/${ref("EMPTY")}`, `rpcUrls/0 uses ${ref("EMPTY")}, but the variable EMPTY is unset or empty. Set it.`],
  [`https://a/${ref("QUOTED")}`, "The variable QUOTED contains a single quote. In a URL, write %27 for it"],
  [{ url: "https://a/", headers: { a: ref("QUOTED") } }, "The variable QUOTED contains a single quote."],
  ["ws://a/", "rpcUrls/0 is not a URL that starts with http:// or https://."],
  [{ url: "https://a/", headers: { a: ref("BROKEN") } }, "the header a has no value of printable ASCII characters"],
])("%j is refused", (given, problem) => {
  expect(() => expandRpcEndpoint(given, "rpcUrls/0", ENV)).toThrow(problem);
});

test("a user and a password are sent in a header, decoded, and leave the URL", () => {
  const { url, headers } = addressOf("https://me:p%40ss@a.example/v1");
  expect(url).toBe("https://a.example/v1");
  expect(headers).toEqual({ authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}` });
  const undecodable = addressOf("https://me:50%off@a.example/").headers.authorization;
  expect(undecodable).toBe(`Basic ${Buffer.from("me:50%off").toString("base64")}`);
  const own = { Authorization: "Bearer x" };
  expect(addressOf({ url: "https://me:pass@a.example/", headers: own }).headers).toEqual(own);
});
