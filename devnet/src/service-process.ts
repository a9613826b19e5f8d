import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Process, respondsOk, startProcess } from "./start-process.js";

export interface ServiceOptions {
  readonly program: "provider" | "operator";
  /** The name of its process and of its files. */
  readonly name: string;
  readonly config: { readonly port: number };
  /** Without any, it is started without a key. */
  readonly privateKeys: readonly string[];
  /** The folder that receives its configuration, its keys and its log, or one for each of them. */
  readonly folder: string | Readonly<Record<"config" | "keys" | "logs", string>>;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** A GET of this path succeeds once it is ready: `/ready` by default. */
  readonly readyPath?: string;
  /** The root of the repository whose built program runs; this one by default. */
  readonly build?: string;
}

/** The process of a provider or an operator. */
export interface ServiceProcess extends Process {
  readonly url: string;
  readonly logFile: string;
  /** The shell command that starts it again. */
  readonly command: string;
}

/** Starts a provider or an operator as its owner would, with its configuration and its keys in files. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const { program, name, config, privateKeys, folder, env = {}, readyPath = "/ready", build = ROOT } = options;
  const folders = typeof folder === "string" ? { config: folder, keys: folder, logs: folder } : folder;
  const configFile = join(folders.config, `${name}.json`);
  writeFileSync(configFile, `${JSON.stringify(config, null, 2)}\n`);
  const keyFile = join(folders.keys, `${name}.key`);
  const keyVariable = `${program.toUpperCase()}_PRIVATE_KEY_FILE`;
  const hasKeys = privateKeys.length > 0;
  if (hasKeys) writeFileSync(keyFile, `${privateKeys.join("\n")}\n`, { mode: 0o600 });
  const serve = program === "provider" ? ["serve"] : [];
  const args = [join(build, program, "dist", "main.js"), ...serve, "--config", configFile];
  const url = `http://127.0.0.1:${config.port}`;
  const logFile = join(folders.logs, `${name}.log`);
  const child = await startProcess({
    name,
    command: process.execPath,
    args,
    env: { ...env, ...(hasKeys && { [keyVariable]: keyFile }) },
    logFile,
    isReady: () => respondsOk(url + readyPath),
  });
  const key = hasKeys ? `${keyVariable}=${shellQuote(keyFile)} ` : "";
  const command = `${key}node ${args.map(shellQuote).join(" ")}`;
  return { ...child, url, logFile, command };
}

const shellQuote = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
