// How a tool reads its command line: `--help` says what it does, and what it does not know ends it with 2.

import { parseArgs } from "node:util";

/**
 * Reads the command line. It ends the process when help is asked for, or with 2 when something must be mended.
 *
 * @template {Record<string, { type: "string" | "boolean", default?: string, number?: [number, number] }>} T
 * @param {string} usage
 * @param {T} options As `parseArgs` takes them; `number` gives the least and the most of an option that is a whole number.
 * @param {{ allowPositionals?: boolean }} [settings]
 */
export function readCommand(usage, options = {}, { allowPositionals = false } = {}) {
  const plain = Object.entries(options).map(([name, { number, ...option }]) => [name, option]);
  try {
    const { values, positionals } = parseArgs({
      options: { ...Object.fromEntries(plain), help: { type: "boolean" } },
      allowPositionals,
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    for (const [name, { number }] of Object.entries(options)) {
      if (number === undefined || values[name] === undefined) continue;
      const [least, most] = number;
      const isWhole = /^(?:0|[1-9]\d{0,8})$/.test(values[name]);
      if (!isWhole || Number(values[name]) < least || Number(values[name]) > most) {
        throw new Error(`--${name} ${values[name]}: write a whole number from ${least} to ${most}.`);
      }
    }
    return { values, positionals };
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}
