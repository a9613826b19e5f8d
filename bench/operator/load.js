import { Pool } from "undici";

/** Posts JSON to one service over connections that stay open. */
export class Client {
  #pool;
  #path;

  constructor(url, path, connections = 64) {
    this.#pool = new Pool(url, { connections });
    this.#path = path;
  }

  /** @throws When the answer is not 200. */
  async post(body) {
    const text = await this.postText(JSON.stringify(body));
    return JSON.parse(text);
  }

  /** The same, as text, so that the reading of it costs nothing. */
  async postText(body) {
    const headers = { "content-type": "application/json" };
    const answer = await this.#pool.request({ path: this.#path, method: "POST", headers, body });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 500)}`);
    return text;
  }

  close() {
    return this.#pool.destroy();
  }
}

/** Runs `work` so often, with so many at once. */
export async function repeat(times, atOnce, work) {
  let next = 0;
  const lane = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Runs `work` again and again for so long, with so many at once. */
export async function repeatFor(ms, atOnce, work) {
  const end = performance.now() + ms;
  let next = 0;
  const lane = async () => {
    while (performance.now() < end) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
