import { killAndAsk } from "../network/kill-and-ask-again.js";

export const killedProviders = {
  name: "killed-providers",
  breach: "a provider that is killed while it signs says something else about the same round afterwards",
  isFast: false,
  run: (network, tally) => killAndAsk(network, tally, 4, () => ({})),
};
