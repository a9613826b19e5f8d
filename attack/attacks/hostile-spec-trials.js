import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { postJson } from "../http.js";
import { buildSpec } from "../network/build-spec.js";
import { HOSTILE_URLS } from "./hostile-urls.js";

const PAID = "paid.attack.example";
const SECRET = "canary-of-the-paid-api";
const BUDGET = { perSecond: 1, burst: 16 };
const TRIALS = 60;

export const hostileSpecTrials = {
  name: "hostile-spec-trials",
  breach:
    "a trial makes a provider connect to an address that is not public, or send or show a secret, or gets a value from " +
    "a refused URL, or trials make more requests than their budget allows",
  isFast: false,
  async run(network, tally) {
    const { internet } = network;
    for (const url of HOSTILE_URLS) {
      if (URL.canParse(url)) internet.serve(new URL(url).host, (_, response) => response.end('{"value":1}'));
    }
    const trialsOf = (rateLimit) => ({
      webOracle: { ...network.webOracle("trials"), trials: { hosts: "any", rateLimit } },
    });
    const provider = await network.startProvider(
      0,
      {
        ...trialsOf({ perSecond: 100, burst: 1_000 }),
        secrets: [{ host: PAID, header: "x-api-key", env: "PAID" }],
      },
      { env: { PAID: SECRET } },
    );
    const tryOut = ({ url }, ...urls) => {
      const sources = urls.map((source) => ({ url: source }));
      return postJson(`${url}/specs/try`, { spec: buildSpec("hostile", sources), arguments: [] });
    };

    const before = internet.trapped();
    await forEachConcurrently(HOSTILE_URLS, 4, async (url) => {
      for (let time = 1; time <= (url.includes("rebind-") ? 2 : 1); time++) {
        tally.attempt();
        const { status, json, text } = await tryOut(provider, url);
        if (status !== 200 && json?.code !== "invalid_spec") throw new Error(`${url} was not judged: ${text}`);
        if (json.output != null && !url.includes("rebind-")) tally.breach(`${url} gave a value`);
      }
    });
    const trapped = internet.trapped() - before;
    if (trapped > 0) tally.breach(`there were ${trapped} connections to other addresses`, trapped);

    let paid = "";
    internet.serve(PAID, ({ headers }, response) => {
      paid += JSON.stringify(headers);
      response.end(JSON.stringify({ value: 1, headers }));
    });
    tally.attempt();
    const { text } = await tryOut(provider, `https://${PAID}/`);
    if (paid === "") throw new Error(`The paid host was not asked: ${text}`);
    if ((paid + text).includes(SECRET)) tally.breach("a trial was sent with a secret");

    let asked = 0;
    internet.serve("api.attack.example", (_, response) => {
      asked += 1;
      response.end('{"value":1}');
    });
    const bounded = await network.startProvider(1, trialsOf(BUDGET));
    const start = performance.now();
    const all = Array.from({ length: TRIALS }, (_, index) => index);
    await forEachConcurrently(all, 4, async (index) => {
      tally.attempt();
      const urls = Array.from({ length: 4 }, (_, source) => `https://api.attack.example/${index}/${source}`);
      await tryOut(bounded, ...urls);
    });
    const allowed = BUDGET.burst + BUDGET.perSecond * Math.ceil((performance.now() - start) / 1_000);
    if (asked === 0) throw new Error("No trial was made.");
    if (asked > allowed) tally.breach(`trials made ${asked} requests, not ${allowed}`, asked - allowed);
  },
};
