import { BaseError, type CcipRequestParameters, type Hex, isHex } from "viem";
import { parseJson } from "../parse-json.js";
import { Deadline } from "./deadline.js";
import { bodyText, failureOf, sendRequest } from "./send-request.js";

/** More than the largest update needs, which has the reports of 255 members. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_REASON = 500;

/**
 * Asks the gateways that a contract names (ERC-3668), one after the other, until one answers. Unlike viem's own requests,
 * each has a deadline and a limit on the answer, so that no gateway can keep the caller from the next one.
 *
 * @param timeoutMs The time for each gateway, in milliseconds.
 * @throws viem's `BaseError`, whose short message it passes on, with the failure of each gateway if none answers.
 */
export async function askGateways(
  { data, sender, urls, requestOptions }: CcipRequestParameters,
  timeoutMs: number,
): Promise<Hex> {
  const failures: string[] = [];
  for (const url of urls) {
    const deadline = new Deadline(timeoutMs, requestOptions?.signal ?? undefined);
    try {
      return await askGateway(url, sender, data, deadline.signal);
    } catch (error) {
      deadline.throwIfAborted();
      failures.push(`${url}: ${deadline.isOver ? `no answer within ${timeoutMs} ms` : failureOf(error)}`);
    } finally {
      deadline.clear();
    }
  }
  throw new BaseError(`No gateway answered. ${failures.join("; ")}`);
}

async function askGateway(url: string, sender: string, data: Hex, signal: AbortSignal): Promise<Hex> {
  const post = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data, sender: sender.toLowerCase() }),
  };
  const filledIn = url.replace("{sender}", sender.toLowerCase()).replace("{data}", data);
  const response = await sendRequest(filledIn, { ...(url.includes("{data}") ? {} : post), signal });
  let text = "";
  for await (const part of bodyText(response, MAX_CHARACTERS, signal)) text += part;
  const { data: answer, message } = (parseJson(text) ?? {}) as { data?: unknown; message?: unknown };
  if (!response.ok) {
    const reason = typeof message === "string" ? `: ${message.slice(0, MAX_REASON)}` : "";
    throw new Error(`HTTP ${response.status}${reason}`);
  }
  if (!isHex(answer)) throw new Error("an answer without data in hex");
  return answer;
}
