#!/usr/bin/env node
import { keyToAscii } from "@dataset-oracle/protocol/key";
import { webKey } from "@dataset-oracle/protocol/web-key";
import { ConfigError } from "@dataset-oracle/service/config";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { runMain } from "@dataset-oracle/service/process";
import { styleOf } from "../../cli/terminal.js";
import { loadProviderConfig } from "../../config.js";
import { checkOverrides } from "../../source-overrides.js";
import type { BoundRequest, CompiledRequest } from "../compile.js";
import { type CliCommand, readCliCommand } from "./arguments.js";
import { type LoadedSpec, loadSpec } from "./load-spec.js";
import { publish } from "./publish.js";
import { tryRequest } from "./try.js";
import { USAGE } from "./usage.js";

await runMain(async () => {
  const command = readCliCommand(process.argv.slice(2));
  if (command === null) return console.log(USAGE);
  const spec = loadSpec(command.specFile);
  const style = styleOf(process.stdout, process.env);
  switch (command.name) {
    case "validate":
      return console.log(`${style.good("valid")}: ${summary(spec)}`);
    case "key":
      bind(spec, command.args);
      return console.log(describeKey(spec, command.args));
    case "try": {
      const egress = openEgress(spec.request, command.options);
      const { text, isValue } = await tryRequest(spec.request, bind(spec, command.args), egress, style);
      await egress.close();
      console.log(text);
      process.exitCode = isValue ? 0 : 1;
      return;
    }
    case "publish":
      return console.log(await publish(spec, command.options, process.env));
  }
});

function summary({ request, hash, bytes }: LoadedSpec): string {
  const { spec, type, kind, hosts } = request;
  const variables = spec.variables.map(({ name }) => `/<${name}>`).join("");
  return [
    spec.title,
    `  value:  ${type}, of the Web Oracle's ${kind} dataset`,
    `  asks:   ${hosts.join(", ")}; ${spec.minSources} of ${spec.sources.length} sources must answer`,
    `  keys:   WEB/${hash.slice(2)}${variables}`,
    `  bytes:  ${(bytes.length - 2) / 2} of canonical JSON`,
  ].join("\n");
}

/** @throws ConfigError when the arguments are not those of the spec. */
function bind({ request }: LoadedSpec, args: readonly string[]): BoundRequest {
  const bound = request.bind(args);
  if (!bound.ok) throw new ConfigError(bound.error);
  return bound.value;
}

function describeKey({ hash, request }: LoadedSpec, args: readonly string[]): string {
  const key = webKey({ specHash: hash, args });
  if (!key.ok) throw new ConfigError(key.error);
  return [keyToAscii(key.value), key.value, `for the Web Oracle's ${request.kind} dataset`].join("\n");
}

/** @throws ConfigError when a setting must be mended, or the provider does not ask a host of the spec. */
function openEgress({ hosts }: CompiledRequest, { config: file, override = [] }: CliCommand["options"]): Egress {
  const config = file === undefined ? null : loadProviderConfig(file);
  const overrides = { ...config?.sourceOverrides, ...readOverrides(override) };
  checkOverrides(overrides, "any", []);
  const allowed = config?.webOracle?.hosts ?? (config === null ? "any" : []);
  const forbidden = allowed === "any" ? undefined : hosts.find((host) => !allowed.includes(host));
  if (forbidden !== undefined) throw new ConfigError(`${forbidden} is not in webOracle/hosts of ${file}. Add it.`);
  return new Egress({ overrides, secrets: Secrets.load(config?.secrets ?? [], process.env) });
}

function readOverrides(texts: readonly string[]): Record<string, string> {
  const overrides: Record<string, string> = {};
  for (const text of texts) {
    const [origin = "", ...target] = text.split("=");
    overrides[origin] = target.join("=");
  }
  return overrides;
}
