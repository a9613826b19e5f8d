import { expect, test, vi } from "vitest";
import { useStubOperator } from "./support/stub-operator.js";

const operator = useStubOperator();

const body = { network_id: 42, dataset: "0x1", spec: "{}", arguments: [], samples: 2, seconds: 2 } as never;

test("a stream of samples that ends without advice is reported as broken off", async () => {
  const { fetchAdvice } = await import("../src/spec-builder/fetch-advice.js");
  operator.answer = {
    status: 200,
    contentType: "text/event-stream; charset=utf-8",
    body: 'event: sample\ndata: {"taken":1}\n\n',
  };
  const onSample = vi.fn();
  expect(await fetchAdvice(body, onSample, new AbortController().signal)).toMatchObject({
    ok: false,
    error: { code: "broken_off" },
  });
  expect(onSample).toHaveBeenCalledExactlyOnceWith({ taken: 1 });
});

test("a page in place of the stream is reported as an unexpected answer", async () => {
  const { fetchAdvice } = await import("../src/spec-builder/fetch-advice.js");
  operator.answer = { status: 200, contentType: "text/html", body: "<html>Sign in</html>" };
  const signal = new AbortController().signal;
  expect(await fetchAdvice(body, () => {}, signal)).toMatchObject({ ok: false, error: { code: "unexpected_answer" } });
});
