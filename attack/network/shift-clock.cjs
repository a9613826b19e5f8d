// Loaded into the providers (NODE_OPTIONS=--require): their clock differs from this machine's by the number of seconds in
// the file that ATTACK_CLOCK names, which can change while they run.
const { readFileSync } = require("node:fs");

const file = process.env.ATTACK_CLOCK;
if (file !== undefined) {
  const now = Date.now;
  const read = () => Number(readFileSync(file, "utf8")) * 1_000;
  let offsetMs = read();
  setInterval(() => {
    offsetMs = read();
  }, 20).unref();
  Date.now = () => now() + offsetMs;
}
