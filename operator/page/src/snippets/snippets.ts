import { keyToAscii, parseKey } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { networkName } from "../format/names";

/** The data point that the snippets read. */
interface SnippetDataPoint {
  readonly operator: string;
  readonly networkId: number;
  readonly dataset: DatasetOverview;
  /** The network's lens, which proves what an operator fetches; null if it has none. */
  readonly lens: string | null;
  readonly format: ValueFormat | null;
  readonly hex: string;
  /** The key in ASCII; null if it needs quoting. */
  readonly text: string | null;
}

export interface Snippet {
  readonly name: string;
  readonly note: string;
  readonly text: string;
}

/** Keys that need no quoting in shells and languages. Any other key is written in hex. */
const PLAIN = /^[A-Za-z0-9/._~%-]+$/;

/**
 * Returns code that reads a key and requests an update; none if the key is not valid.
 *
 * @param key In ASCII, or in hex after `0x`.
 */
export function snippets(key: string, rest: Omit<SnippetDataPoint, "hex" | "text">): readonly Snippet[] {
  const parsed = parseKey(key);
  if (!parsed.ok) return [];
  const ascii = keyToAscii(parsed.value);
  const text = ascii !== null && PLAIN.test(ascii) ? ascii : null;
  const dataPoint = { ...rest, hex: parsed.value, text };
  const verified = rest.lens === null ? [] : [viem(dataPoint, rest.lens)];
  return [solidity(dataPoint), cast(dataPoint), viem(dataPoint), ...verified, curl(dataPoint)];
}

function solidity({ dataset, networkId, hex, text }: SnippetDataPoint): Snippet {
  const literal = text === null ? `hex"${hex.slice(2)}"` : `"${text}"`;
  const isNumber = dataset.kind === "median";
  const type = isNumber ? "uint256" : "bytes32";
  const [kind, key] =
    dataset.key_form === "SPOT_PRICE" && text !== null
      ? ["SpotPrice", `"${text.replace("SPOTPX/", "")}"`]
      : [isNumber ? "Uint" : "Bytes32", literal];
  return {
    name: "Solidity",
    note: 'Pays the query price and reverts unless the value is OK and recent. To get an update for readFresh, set "broadcast":false in the curl code; the answer has it as update.',
    text: `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {Oracle, OracleProtocol, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";

contract Reader is usingOracleProtocol {
    using OracleProtocol for Oracle;

    // ${dataset.name}, network ${networkId}
    Oracle private constant ORACLE = Oracle(${dataset.dataset});

    // The caller sends exactly the query price, in wei: more would stay in this contract.
    modifier paid() {
        require(msg.value == ORACLE.queryPrice(), "Send exactly the query price.");
        _;
    }

    function read() external payable paid returns (${type}) {
        return ORACLE.query${kind}WithExpiry(${key}, 10 minutes, msg.value);
    }

    // Stores an update that the caller fetched from an operator, and reads it in the same transaction.
    function readFresh(bytes calldata update) external payable paid returns (${type}) {
        return ORACLE.updateAndQuery${kind}(${key}, update, 1 minutes, msg.value);
    }
}
`,
  };
}

function cast({ dataset, networkId, hex, text }: SnippetDataPoint): Snippet {
  const key = text === null ? hex : `$(cast from-utf8 '${text}')`;
  const type = dataset.kind === "median" ? "uint256" : "bytes32";
  return {
    name: "cast",
    note: `Reads without a transaction and without paying. Set ETH_RPC_URL to an RPC endpoint of ${networkName(networkId)}.`,
    text: `DATASET=${dataset.dataset}
KEY=${key}
PRICE=$(cast call $DATASET "queryPrice()(uint256)" | cut -d ' ' -f 1)
READER=0x0000000000000000000000000000000000000b0b
cast call $DATASET "query(bytes)(${type},uint256,uint8)" $KEY --value $PRICE --from $READER --override-balance $READER:$PRICE
`,
  };
}

/** Returns how JavaScript names and prints the value, and what it imports from viem to do so. */
function printed({ dataset, format }: SnippetDataPoint) {
  const decimals = format?.decimals ?? 0;
  const isScaled = dataset.kind === "median" && decimals > 0;
  const [name, shown] =
    dataset.kind === "majority"
      ? ["output", "output"]
      : ["value", isScaled ? `formatUnits(value, ${decimals})` : "value"];
  return { name, shown, imports: isScaled ? "createPublicClient, formatUnits, http" : "createPublicClient, http" };
}

/**
 * Returns code that reads with viem.
 *
 * @param lens Proves a value that an operator has just collected; without it, the stored value is read.
 */
function viem(dataPoint: SnippetDataPoint, lens: string | null = null): Snippet {
  const { dataset, networkId, hex, text } = dataPoint;
  const { name, shown, imports } = printed(dataPoint);
  const isFresh = lens !== null;
  const read = isFresh ? "readVerified" : "simulateQuery";
  const note = isFresh
    ? "Reads a value that is at most a minute old with viem, without a transaction. An operator collects the signed reports, and the contract verifies them."
    : "Reads what is stored, without a transaction.";
  const parameters = [
    ...(isFresh ? [`lens: "${lens}"`] : []),
    `dataset: "${dataset.dataset}"`,
    `key: "${text ?? hex}"`,
    ...(isFresh ? ["maxAge: 60"] : []),
  ];
  return {
    name: isFresh ? "fresh" : "viem",
    note: `${note} Set ETH_RPC_URL to an RPC endpoint of ${networkName(networkId)}.`,
    text: `import { ${read} } from "@dataset-oracle/protocol";
import { ${imports} } from "viem";

const client = createPublicClient({ transport: http(process.env.ETH_RPC_URL) });
const { status, ${name}, updatedAt } = await ${read}(client, {
${parameters.map((parameter) => `  ${parameter},\n`).join("")}});
console.log(status, ${shown}, new Date(Number(updatedAt) * 1000));
`,
  };
}

function curl({ operator, dataset, networkId, hex, text }: SnippetDataPoint): Snippet {
  const body = { network_id: networkId, dataset: dataset.dataset, key: text ?? hex, broadcast: true };
  return {
    name: "curl",
    note: "Requests an update from this operator and waits up to ten seconds for it to be mined.",
    text: `curl -X POST ${operator}/data/request \\
  -H 'content-type: application/json' -H 'prefer: wait=10' \\
  -d '${JSON.stringify(body)}'
`,
  };
}
