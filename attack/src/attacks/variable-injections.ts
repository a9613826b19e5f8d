import { text } from "node:stream/consumers";
import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Hex } from "viem";
import type { Attack } from "../attack.js";
import { buildSpec, variable } from "../network/build-spec.js";
import type { RunningProvider } from "../network/network.js";

const HOST = "variables.attack.example";
/** Texts that have a meaning in a URL. */
const PARTS_OF_URLS = [
  "../secret",
  "..",
  ".",
  "%2e%2e%2f",
  "..%2f",
  "a/../../b",
  "a\\..\\b",
  "//evil.example",
  "@evil.example",
  ":443",
  "a?b=c",
  "a#b",
  "a&b=c",
  "a;b",
];
/** Texts that have a meaning in an encoded query, a header, a template, a shell, or JSON. */
const QUOTES_AND_TEMPLATES = [
  "a=b",
  "%00",
  "%0d%0ax:y",
  "a b",
  "a+b",
  "{v}",
  "{{v}}",
  "$HOME",
  "$(id)",
  "`id`",
  "'; drop",
  '"',
  "'",
  '","admin":true,"x":"',
  "\\",
  "\\u0022",
  "\\'",
];
/** Texts that have a meaning in a JSONPath or as a name in an object, and characters that are normalized. */
const PATHS_AND_UNICODE = [
  "') || true",
  "' || '1'=='1",
  "'] || @.['",
  "*",
  "]",
  "[*]",
  "$",
  "@",
  "$..*",
  "a'b",
  "a\u2028b",
  "\u202e",
  "\u00e9",
  "e\u0301",
  "\ud83d\ude00",
  "\uff0e\uff0e\uff0f",
  "__proto__",
  "constructor",
  "x".repeat(100),
];
const VALUES = [...PARTS_OF_URLS, ...QUOTES_AND_TEMPLATES, ...PATHS_AND_UNICODE];

/** A request as it arrived. */
interface ArrivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly body: string;
}

export const variableInjections: Attack = {
  name: "variable-injections",
  breach: "a variable's value changes a request outside the variable's place, or the node that a path matches",
  isFast: true,
  async run(network, tally) {
    const { internet, providers, words } = network;
    const asked: ArrivedRequest[] = [];
    internet.serve(HOST, async (request, response) => {
      asked.push({ method: request.method, url: request.url, host: request.headers.host, body: await text(request) });
      response.end('{"items":[{"name":"other","value":"leaked"}],"value":"ok"}');
    });
    const source = {
      method: "POST",
      url: `https://${HOST}/a/{v}/b?q={v}&fixed=1`,
      body: '{"v":"{v}","fixed":1}',
      type: "string",
    };
    const spec = (title: string, path: string) => buildSpec(title, { ...source, path }, { variables: [variable("v")] });
    const [requests, paths] = (await network.publish(
      spec("variables in a request", "$.value"),
      spec("variables in a path", "$.items[?@.name == '{v}'].value"),
    )) as [Hex, Hex];
    await forEachConcurrently(VALUES, 8, async (value, i) => {
      for (const hash of [requests, paths]) {
        tally.attempt();
        const request = { dataset: words, key: network.key(hash, value) };
        const {
          status,
          json,
          text: answer,
        } = await network.reportOfSpec(providers[i % providers.length] as RunningProvider, request);
        if (status === 500) tally.breach(`${JSON.stringify(value)} is answered ${answer}`);
        if (hash === paths && json?.outcome === "OK") tally.breach(`${JSON.stringify(value)} finds another node`);
      }
    });
    if (asked.length === 0) throw new Error("No request arrived.");
    for (const request of asked) {
      if (!isAsMeant(request)) tally.breach(`a request arrived as ${JSON.stringify(request)}`);
    }
  },
};

/** Returns true if a request differs from the template only in the variable's three places, all with the same value. */
function isAsMeant({ method, url = "", host, body }: ArrivedRequest) {
  const found = /^\/a\/([^/?#]+)\/b\?q=([^&#]*)&fixed=1$/.exec(url);
  if (method !== "POST" || host !== HOST || found === null) return false;
  const [inPath = "", inQuery] = found.slice(1).map(decodeURIComponent);
  const json = JSON.parse(body);
  return (
    VALUES.includes(inPath) &&
    inQuery === inPath &&
    json.v === inPath &&
    json.fixed === 1 &&
    Object.keys(json).length === 2
  );
}
