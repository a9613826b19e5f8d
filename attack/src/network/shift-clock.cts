// Loaded into the providers (NODE_OPTIONS=--require): their clock differs from this machine's by the number of seconds in
// the file that ATTACK_CLOCK names, which can change while they run. After "=", the file has the time at which it stands.
import fs = require("node:fs");

const file = process.env.ATTACK_CLOCK;
if (file !== undefined) {
  const now = Date.now;
  let setting = fs.readFileSync(file, "utf8");
  setInterval(() => {
    setting = fs.readFileSync(file, "utf8");
  }, 20).unref();
  Date.now = () => {
    const standing = setting.startsWith("=");
    return standing ? Number(setting.slice(1)) * 1_000 : now() + Number(setting) * 1_000;
  };
}
