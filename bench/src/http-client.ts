import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { postText as post } from "@dataset-oracle/service/trusted/post-text";

const LIMITS = { timeoutMs: 60_000, maxBytes: 1024 * 1024 };

/** Posts JSON without the overhead of fetch, so that the benchmark itself uses little of the machine. */
// biome-ignore lint/suspicious/noExplicitAny: Each caller knows what it asks for.
export async function postJson(url: string, body: unknown): Promise<any> {
  return JSON.parse(await postText(url, JSON.stringify(body)));
}

/**
 * Posts JSON and returns the answer as text, without parsing it.
 *
 * @throws If the status is not 200.
 */
export async function postText(url: string, body: string): Promise<string> {
  const answer = await post({ url, body }, LIMITS, TRUSTED_CONNECTIONS);
  if (!answer.ok) throw new Error(answer.error.detail);
  const { status, text } = answer.value;
  if (status !== 200) throw new Error(`${status}: ${text.slice(0, 500)}`);
  return text;
}
