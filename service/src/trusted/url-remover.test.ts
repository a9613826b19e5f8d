import { expect, test } from "vitest";
import { urlRemover } from "./url-remover.js";

test.each([
  [
    "https://rpc.example/v3/t0ken%2Fx?key=secret",
    "RPC.example refused /v3/t0ken/x?key=secret",
    "... refused /v3/...?key=...",
  ],
  ["http://rpc/v3", "rpc cannot be reached at /v3", "rpc cannot be reached at /v3"],
])("from a message of %s, all parts of the URL that could be tokens are removed", (url, message, expected) => {
  expect(urlRemover(url)(message)).toBe(expected);
});

test("other secrets are removed from a message, too", () => {
  expect(urlRemover("http://rpc", ["t0ken"])("Bearer T0ken is unknown")).toBe("Bearer ... is unknown");
});
