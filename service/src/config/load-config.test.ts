import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.js";
import { loadConfig } from "./load-config.js";

const folder = mkdtempSync(join(tmpdir(), "config-"));

const Settings = Type.Object(
  {
    port: Type.Integer({ maximum: 65_535, description: "The port." }),
    path: Type.String({ pattern: "^(/[a-z]+)*$", default: "", description: "The path of the base URL." }),
    level: Type.Union([Type.Literal("info"), Type.Literal("warn")], {
      default: "info",
      description: "What is logged.",
    }),
    log: Type.Optional(
      Type.Object(
        { type: Type.Literal("json"), to: Type.Union([Type.Literal("disk"), Type.Literal("network")]) },
        { additionalProperties: false, description: "Without it, nothing is logged." },
      ),
    ),
  },
  { additionalProperties: false },
);

function load(settings: unknown) {
  const file = join(folder, "settings.json");
  const isContent = typeof settings === "string" || Buffer.isBuffer(settings);
  writeFileSync(file, isContent ? settings : JSON.stringify(settings));
  return loadConfig(file, Settings);
}

describe("a configuration file", () => {
  test("gets the defaults of omitted settings", () => {
    expect(load({ port: 80 })).toEqual({ port: 80, path: "", level: "info" });
  });

  test("may be laid out freely, and begin with a byte order mark", () => {
    expect(load('\ufeff{\r\n  "port": 80\r\n}\r\n')).toMatchObject({ port: 80 });
    expect(load('\ufeff{"port":80}\n')).toMatchObject({ port: 80 });
  });

  const refused: [settings: unknown, message: string | RegExp][] = [
    [{}, "\n  /port: is missing (integer). The port."],
    [{ port: "80" }, "\n  /port: must be a whole number, without quotes. The port."],
    [{ port: 80, path: "x y" }, "\n  /path: does not have the required form. The path of the base URL."],
    [{ port: 80, level: "loud" }, "\n  /level: must be one of info, warn. What is logged."],
    [{ port: 80, prot: 81 }, "\n  /prot: is unknown; remove it"],
    [{ port: 80, Le_vel: "info" }, "\n  /Le_vel: is unknown; the right name is level"],
    [{ port: 80, log: { type: "json", TO: "disk" } }, "\n  /log/TO: is unknown; the right name is to"],
    [{ port: 80, log: { to: "disk", type: "json", tpye: 1 } }, /\n {2}\/log\/tpye: is unknown; remove it$/],
    ["{", "settings.json is not JSON: look at line 1, column 2."],
    ['{\n  "port": 80\n  "path": "x"\n}', "settings.json is not JSON: look at line 3, column 3."],
    ["", "settings.json is empty. Write a JSON object into it."],
    [Buffer.from('\ufeff{"port":80}', "utf16le"), "settings.json is in UTF-16. Save it in UTF-8."],
    [Buffer.from('{"port":80,"path":"/f\u00fcr"}', "latin1"), "settings.json is not in UTF-8. Save it in UTF-8."],
    [
      '{\n  "port": 80,\n  "port": 81\n}',
      "settings.json has a property twice in one object: look at line 3, column 4. Keep one of the two.",
    ],
    ['{"log":{"at position 1":1,"at position 1":2}}', "look at line 1, column 28. Keep one"],
  ];
  test.each(refused)("%j is refused with a message that names the fix", (settings, message) => {
    expect(() => load(settings)).toThrow(ConfigError);
    expect(() => load(settings)).toThrow(message);
  });

  test("gets one line per mistake", () => {
    expect(() => load({ level: "loud" })).toThrow(/^.* is not valid:\n {2}\/port: [^\n]*\n {2}\/level: [^\n]*$/);
  });

  test("repeats no key that stands as a setting's name", () => {
    const key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    expect(() => load({ port: 80, [key]: 1 })).toThrow(ConfigError);
    expect(() => load({ port: 80, [key]: 1 })).not.toThrow(key);
  });
});
