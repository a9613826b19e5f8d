// Finds Foundry's native binaries and gives them a compiler.
//
// The launchers in node_modules/.bin always exit with 0, so a failing `forge test` would look green. This project
// always runs the native binary of the platform's package instead.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { finishDeploymentFile } from "./deployment-file.js";
import { ROOT } from "./repository-root.js";

const require = createRequire(import.meta.url);
/** @type {Record<string, string>} */
const CPU_NAMES = { x64: "amd64", arm64: "arm64" };

/**
 * With these, the node estimates the gas of each transaction of a script, after the one before it is mined.
 *
 * @type {readonly string[]}
 */
export const SCRIPT_FLAGS = ["--slow", "--skip-simulation"];

/** The folders of `forge lint`: it writes artifacts without bytecode, which the next build would take for complete. */
const LINT_FOLDERS = { FOUNDRY_OUT: "out/lint", FOUNDRY_CACHE_PATH: "cache/lint" };

/** What gives a script the endpoint that ETH_RPC_URL names, as cast has it: its token is in no list of processes then. */
const endpoint = () => process.env.ETH_RPC_URL && { FOUNDRY_ETH_RPC_URL: process.env.ETH_RPC_URL };

/**
 * Returns the path of a Foundry tool's native binary.
 *
 * @param {string} tool
 */
export function foundryBinary(tool) {
  const name = `@foundry-rs/${tool}-${process.platform}-${CPU_NAMES[process.arch] ?? process.arch}`;
  try {
    const extension = process.platform === "win32" ? ".exe" : "";
    return join(dirname(require.resolve(`${name}/package.json`)), "bin", tool + extension);
  } catch {
    throw new Error(
      `The package ${name} with ${tool} is not installed. Run "npm ci" without --omit=optional, on a platform that Foundry supports.`,
    );
  }
}

/**
 * Returns the environment in which forge compiles with the locked JavaScript compiler and downloads nothing.
 * Plain `forge`, outside of npm, fetches the same version by itself.
 */
export function foundryEnv() {
  return {
    ...process.env,
    FOUNDRY_SOLC: join(ROOT, "tools", "solc-wrapper.js"),
    FOUNDRY_OFFLINE: "true",
    // With this, git finds no repository. Otherwise forge would have it fetch submodules that were copied from npm.
    GIT_DIR: join(ROOT, "no-git"),
  };
}

/**
 * Runs a Foundry tool in the foreground, in the repository's root.
 *
 * @param {string} tool
 * @param {readonly string[]} args
 * @returns {Promise<number>} Its exit code; 1 if a signal ended it.
 */
export function runFoundry(tool, args) {
  return new Promise((resolve, reject) => {
    const env = { ...foundryEnv(), ...(args[0] === "lint" && LINT_FOLDERS), ...(args[0] === "script" && endpoint()) };
    const child = spawn(foundryBinary(tool), args, { cwd: ROOT, env, stdio: "inherit" });
    // Whoever ends this process ends the tool: a compilation that went on would write to the folders of the next one.
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, () => child.kill(signal));
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * Runs a script of script/. The chain's node estimates the gas of each transaction, after the one before it is mined:
 * forge's own simulation has the rules of an EVM that the chain may not have. What was deployed is listed in the
 * deployment file once it exists, also what an earlier run did not finish.
 *
 * @param {readonly string[]} args
 * @returns {Promise<number>} forge's exit code.
 */
async function runScript(args) {
  // The scripts deploy the contracts from the artifacts of this build.
  const built = await runFoundry("forge", ["build", "src"]);
  if (built !== 0) return built;
  const command = [...args, ...SCRIPT_FLAGS.filter((flag) => !args.includes(flag))];
  const isResumed = args.includes("--resume");
  const rpcUrl = rpcUrlOf(args) ?? process.env.ETH_RPC_URL;
  if (rpcUrl === undefined || !(isResumed || args.includes("--broadcast"))) return runFoundry("forge", command);
  // The URL itself may have a token.
  if (!/^https?:/.test(rpcUrl))
    throw new Error("The RPC URL begins with neither http: nor https:. Name one that does.");
  const folders = {
    rpcUrl,
    deployments: resolve(ROOT, process.env.DEPLOYMENTS_DIR ?? "deployments"),
    broadcast: resolve(ROOT, process.env.FOUNDRY_BROADCAST ?? "broadcast"),
  };
  if (!isResumed) tellWritten(await finishDeploymentFile(folders, "earlier"));
  const code = await runFoundry("forge", command);
  tellWritten(await finishDeploymentFile(folders, code === 0 ? "succeeded" : "failed"));
  return code;
}

/** @param {string | undefined} path */
function tellWritten(path) {
  if (path !== undefined) console.log(`Written to: ${relative(ROOT, path)}`);
}

/**
 * @param {readonly string[]} args
 * @returns {string | undefined}
 */
function rpcUrlOf(args) {
  const names = ["--rpc-url", "--fork-url", "-r", "-f"];
  const place = args.findIndex((arg) => names.includes(arg));
  if (place >= 0) return args[place + 1];
  return args.map((arg) => /^--(?:rpc|fork)-url=(.*)/s.exec(arg)?.[1]).find((url) => url !== undefined);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tool = "", ...args] = process.argv.slice(2);
  try {
    process.exitCode = await (tool === "forge" && args[0] === "script" ? runScript(args) : runFoundry(tool, args));
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}
