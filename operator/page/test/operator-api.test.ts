import { beforeAll, expect, test } from "vitest";
import { useStubOperator } from "./support/stub-operator.js";

const operator = useStubOperator();
let getOverview: typeof import("../src/operator-api.js").getOverview;

beforeAll(async () => {
  ({ getOverview } = await import("../src/operator-api.js"));
});

test.each([200, 502])("an answer that is not JSON, with the status %i, is reported as such", async (status) => {
  operator.answer = { status, contentType: "text/html", body: "<html>Bad gateway</html>" };
  expect(await getOverview()).toEqual({
    ok: false,
    error: {
      code: "unexpected_answer",
      title: "Something other than the operator answered.",
      detail: expect.stringContaining(`has the status ${status}, but not the operator's format`),
      retryAfter: null,
    },
  });
});

test("a problem without a code is an unexpected answer, with advice", async () => {
  operator.answer = { status: 500, contentType: "application/json", body: "null" };
  expect(await getOverview()).toMatchObject({
    error: { code: "unexpected_answer", detail: expect.stringContaining("has the status 500") },
  });
});

test.each([
  ["17", "<html>Busy</html>", 17],
  ["17", "{}", 17],
  ["Wed, 21 Oct 2026 07:28:00 GMT", "{}", null],
  ["31536000", "{}", null],
])("Retry-After: %s, with the body %s, is read as %s seconds", async (header, body, seconds) => {
  operator.answer = { status: 503, contentType: "text/html", body, headers: { "retry-after": header } };
  expect(await getOverview()).toMatchObject({ error: { code: "unexpected_answer", retryAfter: seconds } });
});

test("an operator that cannot be reached is reported as such", async () => {
  await operator.close();
  expect(await getOverview()).toMatchObject({ ok: false, error: { code: "unreachable" } });
});
