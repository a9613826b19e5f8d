import { expect, onTestFinished, test } from "vitest";
import { startProvider } from "./support/test-provider.js";

test("configured operators have limits of their own, whatever one anonymous caller or all of them ask", async () => {
  const provider = await startProvider({
    trustedProxies: ["127.0.0.1"],
    operators: ["198.51.100.0/24"],
    requestsPerMinute: 3,
    anonymousRequestsPerMinute: 5,
    operatorRequestsPerMinute: 7,
  });
  onTestFinished(() => provider.close());
  const statuses = async (caller: string, count: number) => {
    const answers: number[] = [];
    for (let i = 0; i < count; ++i) {
      answers.push((await provider.ask({ network_id: 1 }, { "x-forwarded-for": caller })).status);
    }
    return answers;
  };
  expect(await statuses("203.0.113.1", 5)).toEqual([422, 422, 422, 429, 429]);
  expect(await statuses("203.0.113.2", 3)).toEqual([422, 422, 429]);
  expect(await statuses("203.0.113.3", 1)).toEqual([429]);
  expect(await statuses("198.51.100.7", 8)).toEqual([...Array(7).fill(422), 429]);
  expect(await statuses("198.51.100.8", 1)).toEqual([422]);
});
