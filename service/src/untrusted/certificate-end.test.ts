import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { expect, onTestFinished, test } from "vitest";
import { certificateEnd } from "./certificate-end.js";

const authority = createCertificateAuthority();

test.each([
  ["is valid", 3, "localhost"],
  ["has expired", -1, "localhost"],
  ["is for an IPv6 address", 3, "[::1]"],
])("the end of a certificate that %s is read, whoever issued it", async (_, days, host) => {
  const server = createServer(authority.issue(["localhost"], days)).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `https://${host}:${(server.address() as AddressInfo).port}`;
  const end = await certificateEnd(url, true);
  expect(Math.round(((end ?? 0) - Date.now()) / 86_400_000)).toBe(days);
  // Anyone may have written it: what is not public is not connected to.
  expect(await certificateEnd(url, false)).toBeNull();
});

test.each(["", "http://localhost", "https://localhost:1"])("%j has none", async (url) => {
  expect(await certificateEnd(url, true)).toBeNull();
});
