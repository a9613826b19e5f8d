import { postText as post } from "@dataset-oracle/service/post";

const LIMITS = { timeoutMs: 60_000, maxBytes: 1024 * 1024 };

/** Posts JSON, with little CPU time of its own. */
export async function postJson(url, body) {
  return JSON.parse(await postText(url, JSON.stringify(body)));
}

/**
 * The same, as text, so that the reading of it costs nothing.
 *
 * @throws When the answer is not 200.
 */
export async function postText(url, body) {
  const answer = await post(url, {}, body, LIMITS);
  if (!answer.ok) throw new Error(answer.detail);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer.text;
}

/** Runs `work` so often, with so many at once. */
export async function repeat(times, atOnce, work) {
  let next = 0;
  const queue = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, queue));
}

/** Runs `work` again and again for so long, with so many at once. */
export async function repeatFor(ms, atOnce, work) {
  const end = performance.now() + ms;
  let next = 0;
  const queue = async () => {
    while (performance.now() < end) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, queue));
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
