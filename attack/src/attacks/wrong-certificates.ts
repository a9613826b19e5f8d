import type { Authority, Certificate } from "@dataset-oracle/tools/certificates";
import type { Hex } from "viem";
import type { Attack } from "../attack.js";
import { buildSpec } from "../network/build-spec.js";

const WRONG: Record<string, (authority: Authority) => Certificate> = {
  "expired.attack.example": ({ issue }) => issue(["expired.attack.example"], -1),
  "other-name.attack.example": ({ issue }) => issue(["another.attack.example"]),
  "self-signed.attack.example": ({ selfSigned }) => selfSigned("self-signed.attack.example"),
};

export const wrongCertificates: Attack = {
  name: "wrong-certificates",
  breach: "a value is read from a host whose certificate does not prove its name",
  isFast: true,
  async run(network, tally) {
    const hosts = Object.keys(WRONG);
    for (const [host, make] of Object.entries(WRONG)) {
      network.internet.serve(host, (_, response) => response.end('{"value":1}'));
      network.internet.showCertificate(host, make);
    }
    network.internet.serve("right.attack.example", (_, response) => response.end('{"value":1}'));
    const all = [...hosts, "right.attack.example"];
    const hashes = await network.publish(...all.map((host) => buildSpec(host, { url: `https://${host}/` })));
    for (const [i, host] of all.entries()) {
      for (const provider of network.providers) {
        const { json, text } = await network.reportOfSpec(provider, {
          dataset: network.numbers,
          key: network.key(hashes[i] as Hex),
        });
        if (host === "right.attack.example") {
          if (json?.outcome !== "OK") throw new Error(`A right certificate was refused: ${text}`);
          continue;
        }
        tally.attempt();
        if (json?.outcome === "OK") tally.breach(`${host} gave ${provider.name} a value`);
      }
    }
  },
};
