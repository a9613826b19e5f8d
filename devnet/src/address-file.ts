import { writeFileSync } from "node:fs";
import type { Service } from "./network-services.js";
import type { RunningDevnet } from "./running-devnet.js";

/** Writes the addresses to `devnet.json`, for programs. */
export function writeAddressFile(running: RunningDevnet, queryPrice: bigint): void {
  writeFileSync(running.folder.file("devnet.json"), `${JSON.stringify(addresses(running, queryPrice), null, 2)}\n`);
}

/** The content of `devnet.json`. */
export type DevnetAddresses = ReturnType<typeof addresses>;

function addresses(running: RunningDevnet, queryPrice: bigint) {
  const { chainUrl, deployed, providers, operators, examples } = running;
  const describe = ({ url, address, pid, command }: Service) => ({ url, address, pid, command });
  const described = operators.map(describe);
  return {
    chain: chainUrl,
    /** The only or the first one. */
    operator: described[0] as (typeof described)[number],
    operators: described,
    dataset: deployed.dataset.address,
    webOracle: { ...deployed.webOracle, examples },
    queryPrice: String(queryPrice),
    lens: deployed.lens,
    consumer: deployed.consumer,
    providers: providers.map(describe),
  };
}
