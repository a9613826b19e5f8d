import { numberToHex } from "viem";
import type { WebOracleKey, WebReading } from "../web-oracle/web-oracle.js";
import { describeValue, printable, type Style } from "./terminal.js";

/** What was read for a Web Oracle key. */
export interface WebValue extends Pick<WebOracleKey, "name" | "compiled" | "request"> {
  readonly reading: WebReading;
  /** When the reading began, in whole seconds since 1970. */
  readonly at: bigint;
}

const OUTCOMES = { value: "OK", busy: "BUSY", none: "NOT_AVAILABLE" } as const;

/** A value and its sources, for programs: a number in decimal, else the 32 bytes in hex. */
export function webValueToJson({ name, compiled, request, reading, at }: WebValue): string {
  const shown = (value: bigint) => (compiled.kind === "median" ? value.toString() : numberToHex(value, { size: 32 }));
  const { combined, answers } = reading;
  const answer = {
    key: name,
    title: compiled.spec.title,
    outcome: OUTCOMES[combined.kind],
    value: combined.kind === "value" ? shown(combined.value) : null,
    at: Number(at),
    sources: answers.map(({ source, reading }, index) => ({
      name: source,
      url: request.sources[index]?.request.url,
      value: reading.ok ? shown(reading.value) : null,
      used: reading.ok,
      reason: reading.ok ? null : reading.failure,
      detail: reading.ok ? null : reading.detail,
    })),
  };
  return JSON.stringify(answer, null, 2);
}

/** A value and its sources, for people. */
export function webValueToText({ name, compiled, request, reading }: WebValue, { bold, good, bad }: Style): string {
  const { combined, answers } = reading;
  const rows = answers.map(({ reading }, index) => {
    const { method = "", url = "" } = request.sources[index]?.request ?? {};
    const said = reading.ok
      ? good(describeValue(compiled, reading.value))
      : bad(printable(`${reading.failure}: ${reading.detail}`));
    return `${method} ${url}\n  ${said}`;
  });
  return [bold(name), printable(compiled.spec.title), ...rows, "", outcome()].join("\n");

  function outcome(): string {
    switch (combined.kind) {
      case "value":
        return `value ${bold(describeValue(compiled, combined.value))}`;
      case "none":
        return bad(`no value: ${combined.reason}`);
      case "busy":
        return bad(`not known: sources are at their rate limit; try again in ${combined.retryAfter} s`);
    }
  }
}
