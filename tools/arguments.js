// The command line of this repository's own programs: `node:util` parses it. `--help` prints the usage, and a mistake
// ends the process with code 2.

import { parseArgs } from "node:util";

/**
 * Reads the command line. It ends the process if help is asked for, or with code 2 if an argument is wrong.
 *
 * @type {typeof import("./arguments.js").readArguments}
 */
export function readArguments(usage, options = /** @type {any} */ ({}), { allowPositionals = false } = {}) {
  try {
    const plain = Object.entries(options).map(([name, { range: _, ...option }]) => [name, option]);
    /** @type {{ values: Record<string, any>, positionals: string[] }} */
    const { values, positionals } = parseArgs({
      options: { ...Object.fromEntries(plain), help: { type: "boolean" } },
      allowPositionals,
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    for (const [name, { range }] of Object.entries(options)) {
      if (range !== undefined && values[name] !== undefined) requireWholeNumber(name, values[name], range);
    }
    return /** @type {any} */ ({ values, positionals });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {readonly [number, number]} range
 */
function requireWholeNumber(name, text, [least, most]) {
  const isWithin = /^(?:0|[1-9]\d{0,9})$/.test(text) && Number(text) >= least && Number(text) <= most;
  if (!isWithin) throw new Error(`--${name} ${text} is not a whole number from ${least} to ${most}.`);
}
