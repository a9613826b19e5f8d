import { findLeakedSecrets } from "@dataset-oracle/devnet/test-support/find-leaked-secrets";
import type { Attack } from "../attack.js";
import { buildSpec } from "../network/build-spec.js";

const HOST = "paid.attack.example";
const SECRETS = { inHeader: "canary-c0ffee-header/+=key", inQuery: "canary c0ffee query/&?" };

const escaped = (text: string, write: (character: string) => string) => [...text].map(write).join("");
const hex = (character: string) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
/** Forms in which an API can repeat a secret inside a JSON text. */
const FORMS: Record<string, (secret: string) => string> = {
  plain: (secret) => JSON.stringify(secret),
  "escaped slashes": (secret) => JSON.stringify(secret).replaceAll("/", "\\/"),
  "escaped punctuation": (secret) => `"${escaped(secret, (one) => (/\w/.test(one) ? one : `\\u${hex(one)}`))}"`,
  "all escaped": (secret) => `"${escaped(secret, (one) => `\\u${hex(one)}`)}"`,
  "escaped in upper case": (secret) => `"${escaped(secret, (one) => `\\u${hex(one).toUpperCase()}`)}"`,
  "every other escaped": (secret) => `"${[...secret].map((one, i) => (i % 2 ? `\\u${hex(one)}` : one)).join("")}"`,
  "percent-encoded": (secret) => JSON.stringify(encodeURIComponent(secret)),
  "percent-encoded in lower case": (secret) => JSON.stringify(encodeURIComponent(secret).toLowerCase()),
  "percent-encoded throughout": (secret) => `"${escaped(secret, (one) => `%${hex(one).slice(2)}`)}"`,
  base64: (secret) => JSON.stringify(Buffer.from(secret).toString("base64")),
  base64url: (secret) => JSON.stringify(Buffer.from(secret).toString("base64url")),
  hex: (secret) => JSON.stringify(Buffer.from(secret).toString("hex")),
  "hex in upper case": (secret) => JSON.stringify(Buffer.from(secret).toString("hex").toUpperCase()),
};

export const echoedApiSecrets: Attack = {
  name: "echoed-api-secrets",
  breach: "a provider's answer, signed value or log contains a secret that a paid API repeated",
  isFast: false,
  async run(network, tally) {
    const { internet, words } = network;
    const provider = await network.startProvider(
      0,
      {
        secrets: [
          { host: HOST, header: "x-api-key", env: "IN_HEADER" },
          { host: HOST, query: "key", env: "IN_QUERY" },
        ],
      },
      { env: { IN_HEADER: SECRETS.inHeader, IN_QUERY: SECRETS.inQuery } },
    );
    const cases = Object.entries(FORMS).flatMap(([form, write]) =>
      Object.entries(SECRETS).map(([name, secret]) => ({ form, name, json: write(secret) })),
    );
    internet.serve(HOST, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "https://paid");
      const hasSecrets =
        request.headers["x-api-key"] === SECRETS.inHeader && searchParams.get("key") === SECRETS.inQuery;
      const [, index, where] = pathname.split("/");
      const repeated = hasSecrets ? cases[Number(index)]?.json : '"the secrets did not arrive"';
      response.end(where === "value" ? `{"value":${repeated}}` : `{"error":${repeated}}`);
    });
    const specs = cases.flatMap((_, i) =>
      ["value", "error"].map((where) =>
        buildSpec(`secret ${i} ${where}`, {
          url: `https://${HOST}/${i}/${where}`,
          type: "string",
          errorPath: "$.error",
        }),
      ),
    );
    const hashes = await network.publish(...specs);
    for (const [i, hash] of hashes.entries()) {
      const { form, name } = cases[Math.floor(i / 2)] as (typeof cases)[number];
      tally.attempt();
      const { status, text, json } = await network.reportOfSpec(provider, { dataset: words, key: network.key(hash) });
      if (status !== 200) throw new Error(`${form}: ${status} ${text}`);
      const values = [json.value, ...json.sources.map(({ value }: { value?: string }) => value ?? "")];
      const decoded = values.map((value) => Buffer.from(value.slice(2), "hex").toString());
      const leaks = findLeakedSecrets([text, ...decoded].join("\n"), SECRETS);
      if (leaks.length > 0) tally.breach(`${name}, ${form}: ${leaks[0]}`);
    }
    const leaks = findLeakedSecrets(provider.log(), SECRETS);
    if (leaks.length > 0) tally.breach(`in the log: ${leaks[0]}`);
  },
};
