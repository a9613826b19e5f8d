import { killAndAsk } from "../network/kill-and-ask-again.js";

export const movedClocks = {
  name: "moved-clocks",
  breach: "a provider whose clock is moved between two lives says something else about the same round",
  isFast: false,
  run: (network, tally) =>
    killAndAsk(network, tally, 6, (_, life) => ({
      env: { ATTACK_CLOCK_OFFSET: String([-5, 5, -700, 3_600, -1, 0][life]) },
    })),
};
