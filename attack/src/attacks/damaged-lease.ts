import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attack } from "../attack.js";
import { ChangingProvider } from "../network/changing-provider.js";

export const damagedLease: Attack = {
  name: "damaged-lease",
  breach: "a provider whose lease was damaged, removed or restored while it was dead decides a round again",
  isFast: false,
  async run(network, tally, random) {
    const provider = await ChangingProvider.start(network, tally);
    await provider.start();
    const { lease } = provider;
    cpSync(lease, `${lease}-backup`, { recursive: true });
    const newest = () => join(lease, readdirSync(lease).sort().at(-1) ?? "");
    const flipBit = () => {
      const bytes = readFileSync(newest());
      const at = random.below(bytes.length);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.below(8)), at);
      writeFileSync(newest(), bytes);
    };
    const restore = () => {
      rmSync(lease, { recursive: true });
      cpSync(`${lease}-backup`, lease, { recursive: true });
    };
    const damages = [
      flipBit,
      () => rmSync(newest()),
      () => truncateSync(newest(), random.below(12)),
      restore,
      () => rmSync(lease, { recursive: true }),
    ];
    await provider.askUntilReady();
    for (const damage of damages) {
      const asked = await provider.kill(5);
      damage();
      if (!(await provider.startAgain(...asked))) throw new Error(`The provider refuses to start after ${damage}.`);
      await provider.askUntilReady();
    }
    if (provider.answers < damages.length) throw new Error("The provider decided too little.");
  },
};
