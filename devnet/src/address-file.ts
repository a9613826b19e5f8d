import { writeFileSync } from "node:fs";
import type { Deployed } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";
import type { PublishedExample } from "./publish-example-specs.js";
import type { Service } from "./start-services.js";

/** A devnet with everything that it has started. */
export interface RunningDevnet extends DevnetContext {
  readonly deployed: Deployed;
  readonly providers: readonly Service[];
  /** At least one. */
  readonly operators: readonly Service[];
  readonly examples: readonly PublishedExample[];
}

/** Writes the addresses to `devnet.json`, for programs. */
export function writeAddressFile(running: RunningDevnet, queryPrice: bigint): void {
  writeFileSync(running.folder.file("devnet.json"), `${JSON.stringify(addresses(running, queryPrice), null, 2)}\n`);
}

function addresses(running: RunningDevnet, queryPrice: bigint) {
  const { options, chainUrl, operatorUrl, deployed, providers, operators, examples } = running;
  const describe = ({ url, address, pid, command }: Service) => ({ url, address, pid, command });
  return {
    chain: chainUrl,
    operator: { url: operatorUrl, address: operators[0]?.address },
    nodes: options.nodes === null ? [] : operators.map(describe),
    dataset: deployed.dataset.address,
    webOracle: { ...deployed.webOracle, examples },
    queryPrice: String(queryPrice),
    lens: deployed.lens,
    consumer: deployed.consumer,
    providers: providers.map(describe),
  };
}
