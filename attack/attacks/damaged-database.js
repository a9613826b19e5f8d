import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { killAndAsk } from "../network/kill-and-ask-again.js";

export const damagedDatabase = {
  name: "damaged-database",
  breach: "a provider whose database was damaged while it was dead decides a round again, with another value",
  isFast: false,
  async run(network, tally, random) {
    const damages = [flipBits, fillTailsWithOnes, fillTailsWithZeros, flipBits];
    for (const damage of damages) {
      await killAndAsk(network, tally, 1, (folder) => {
        damage(folder, random);
        return {};
      });
    }
  },
};

/** Returns the files that hold the records: the logs and tables of LevelDB, without empty ones. */
const recordsIn = (folder) =>
  readdirSync(folder).filter((file) => /\.(?:log|ldb)$/.test(file) && statSync(join(folder, file)).size > 0);

function change(folder, edit) {
  for (const file of recordsIn(folder)) {
    const path = join(folder, file);
    const descriptor = openSync(path, "r+");
    const bytes = Buffer.alloc(statSync(path).size);
    readSync(descriptor, bytes, 0, bytes.length, 0);
    edit(bytes);
    writeSync(descriptor, bytes, 0, bytes.length, 0);
    closeSync(descriptor);
  }
}

const flipBits = (folder, random) =>
  change(folder, (bytes) => {
    for (let at = random.below(200); at < bytes.length; at += 100 + random.below(200))
      bytes[at] ^= 1 << random.below(8);
  });

/** LevelDB takes zeros in a log for space that was never written, and reports no error. */
const fillTailsWithZeros = (folder) => change(folder, (bytes) => bytes.fill(0, Math.floor(bytes.length / 3)));

const fillTailsWithOnes = (folder) => change(folder, (bytes) => bytes.fill(0xff, Math.floor(bytes.length / 2)));
