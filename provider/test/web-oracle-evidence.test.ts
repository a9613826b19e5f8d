import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import { replay } from "../src/evidence/replay.js";
import { runProvider } from "./support/provider-process.js";
import { wireValue } from "./support/test-provider.js";
import { HOST, key, NUMBERS, number, spec, stringValue, useWebOracle, WORDS, word } from "./support/web-oracle.js";

const web = useWebOracle();

describe("evidence of a Web Oracle value", () => {
  const CLIMATE = { minSources: 1, sources: ["celsius", "nothing"].map((name) => source(name)) };
  function source(name: string) {
    return { ...number, url: `https://${HOST}/now?q={city}`, path: `$.${name}` };
  }

  /** Has the keys signed, and gives what was signed and the decisions' files, in the same order. */
  async function sign(...points: [Address, Hex][]) {
    const provider = await web.start({ evidence: { folder: join(web.folder, "evidence"), maxMegabytes: 2 } });
    const signed = [];
    for (const [dataset, key] of points) signed.push((await provider.ask({ dataset, key })).body);
    await provider.close();
    const files = readdirSync(join(web.folder, "evidence", "web-oracle"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(web.folder, "evidence", "web-oracle", name));
    const keyOf = (file: string) => JSON.parse(readFileSync(file, "utf8")).key;
    return { signed, files: signed.map(({ key }) => files.find((file) => keyOf(file) === key) ?? "") };
  }

  it("is replayed into the same value, from the spec, the key's arguments and the answers alone", async () => {
    const climate = await web.registry.publish(spec("with evidence", CLIMATE));
    const text = await web.registry.publish(word("text with evidence", { type: "string", path: "$.text" }));
    const none = await web.registry.publish(word("none with evidence", { type: "string", path: "$.long" }));
    const { signed, files } = await sign(
      [NUMBERS, key(climate, "São Paulo")],
      [NUMBERS, key(climate, "Lima")],
      [WORDS, key(text)],
      [WORDS, key(none)],
    );
    expect(signed.map(({ value }) => value)).toEqual([
      wireValue(2150n),
      wireValue(3500n),
      stringValue("rain"),
      ZERO_VALUE,
    ]);
    const before = web.asked.length;
    for (const [i, file] of files.entries()) {
      const { outcome, value } = signed[i];
      expect(await replay(file)).toMatchObject({ kind: "web_oracle", isSame: true, decision: { outcome, value } });
    }
    expect(web.asked.length).toBe(before);
    const shown = await runProvider(["replay", "--json", files[0] ?? ""]);
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      key: `WEB/${climate.slice(2)}/S%C3%A3o%20Paulo`,
      title: "with evidence",
      is_same: true,
      value: "2150",
      signed: { outcome: "OK", value: "2150" },
      sources: [
        { name: "/sources/0", value: "2150", used: true },
        { value: null, used: false, reason: "no_node: $.nothing matches nothing" },
      ],
    });
  });

  it("that was altered is detected", async () => {
    const hash = await web.registry.publish(spec("changed evidence"));
    const other = await web.registry.publish(spec("another spec"));
    const { files } = await sign([NUMBERS, key(hash, "Lima")], [NUMBERS, key(other, "Lima")]);
    const [file = "", otherFile = ""] = files;
    const record = JSON.parse(readFileSync(file, "utf8"));
    const write = (change: object) => writeFileSync(file, JSON.stringify({ ...record, ...change }));
    write({ value: wireValue(1n) });
    expect(await replay(file)).toMatchObject({ isSame: false, decision: { value: record.value } });
    write({ key: key(hash, "Oslo") });
    await expect(replay(file)).rejects.toThrow(/it has no answer from .*now\?q=Oslo/);
    write({ spec: JSON.parse(readFileSync(otherFile, "utf8")).spec });
    await expect(replay(file)).rejects.toThrow("the key names another spec");
    write({ answers: [] });
    await expect(replay(file)).rejects.toThrow("it has no answer from");
    write({ kind: "spot_price" });
    await expect(replay(file)).rejects.toThrow("/spec");
    write({ kind: "rumour" });
    await expect(replay(file)).rejects.toThrow("/kind: must be one of spot_price, web_oracle");
  });
});
