import { describe, expect, test } from "vitest";
import { startEchoApp } from "./support/echo-app.js";

describe("the caller", () => {
  const ipOf = async (response: Response) => ((await response.json()) as { ip: string }).ip;

  test("is the connection's address, because without trustedProxies proxy headers are ignored", async () => {
    const { get } = await startEchoApp();
    const headers = { "x-forwarded-for": "192.0.2.1", forwarded: "for=192.0.2.2", "x-real-ip": "192.0.2.3" };
    expect(await ipOf(await get("/caller", headers))).toBe("127.0.0.1");
  });

  test("is the last address in the header that is not a trusted proxy, whatever precedes it", async () => {
    const { get } = await startEchoApp({ trustedProxies: ["127.0.0.1", "10.0.0.0/8"] });
    const chains: [header: string, caller: string][] = [
      ["192.0.2.1", "192.0.2.1"],
      ["192.0.2.9, 192.0.2.1", "192.0.2.1"],
      ["192.0.2.9, 192.0.2.1, 10.1.2.3", "192.0.2.1"],
      ["10.9.9.9, 192.0.2.1", "192.0.2.1"],
      ["10.1.2.3", "10.1.2.3"],
    ];
    for (const [header, caller] of chains) {
      expect(await ipOf(await get("/caller", { "x-forwarded-for": header })), header).toBe(caller);
    }
    expect(await ipOf(await get("/caller"))).toBe("127.0.0.1");
  });

  test("is rate limited, whatever it writes into proxy headers", async () => {
    const { get } = await startEchoApp({ requestsPerMinute: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await get("/caller", { "x-forwarded-for": `192.0.2.${i}` })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
