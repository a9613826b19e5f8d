import { expect, test } from "vitest";
import { streamBodyText } from "./stream-body-text.js";

async function textOf(...parts: number[][]): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(Uint8Array.from(part));
      controller.close();
    },
  });
  let text = "";
  for await (const part of streamBodyText(body, new AbortController().signal)) text += part;
  return text;
}

test("a character whose bytes arrive in two parts is read whole", async () => {
  expect(await textOf([0x31, 0xe2, 0x82], [0xac])).toBe("1€");
});

test("a last character that is cut off is visible in the text", async () => {
  expect(await textOf([0x31, 0xe2, 0x82])).toBe("1\ufffd");
});

test("there is no text without a body, or in an empty one", async () => {
  for await (const part of streamBodyText(null, new AbortController().signal)) expect.unreachable(part);
  expect(await textOf()).toBe("");
});
