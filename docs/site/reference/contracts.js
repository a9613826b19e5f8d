// Generates the reference of the contracts from their NatSpec: in the compiler's syntax tree, each definition has its
// comment.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { toFunctionSelector } from "viem";
import { table } from "../markdown-table.js";

/** The pages, and the files or the folders of files that each describes. */
const PAGES = [
  { name: "oracle", label: "Oracle", files: ["Oracle.sol"] },
  { name: "helpers", label: "OracleProtocol", files: ["usingOracleProtocol.sol"] },
  { name: "dataset-interface", label: "IDataset", files: ["interfaces/IDataset.sol"] },
  {
    name: "datasets",
    label: "Datasets",
    files: [
      "MedianDataset.sol",
      "MajorityDataset.sol",
      "Dataset.sol",
      "Subscriptions.sol",
      "Accusations.sol",
      "GovernanceAndIncome.sol",
      "ReportDomain.sol",
    ],
  },
  {
    name: "registry",
    label: "WebOracleRegistry",
    files: ["interfaces/IWebOracleRegistry.sol", "WebOracleRegistry.sol"],
  },
  {
    name: "directory",
    label: "CommitteeDirectory",
    files: ["interfaces/ICommitteeDirectory.sol", "CommitteeDirectory.sol"],
  },
  { name: "mock", label: "MockOracle", files: ["mocks/MockOracle.sol"] },
  {
    name: "lens",
    label: "Lenses",
    files: ["lens/VerifiedLens.sol", "interfaces/IUpdateGateway.sol", "lens/QueryLens.sol"],
  },
  {
    name: "adapters",
    label: "Adapters",
    files: [
      "adapters/ChainlinkAdapter.sol",
      "adapters/PythAdapter.sol",
      "adapters/QuoteAdapter.sol",
      "adapters/MorphoAdapter.sol",
      "adapters/SingleKeyReader.sol",
    ],
  },
  {
    name: "internals",
    label: "Types and libraries",
    intro:
      "The building blocks of the datasets, for readers and maintainers of the contracts. None of it can be called from outside the contracts.",
    folders: ["types", "libraries"],
  },
];

/**
 * A node of the compiler's syntax tree. What else it has depends on its kind.
 *
 * @typedef {{ nodeType: string } & Record<string, any>} Node
 */

const SRC = join(ROOT, "src");
/** @type {[from: string, to: string][]} */
const REMAPPINGS = [
  ["@openzeppelin/contracts/", "lib/openzeppelin-contracts/contracts/"],
  ["@dataset-oracle/contracts/", "src/"],
];

export const contractPages = () =>
  PAGES.map(({ name, label, intro = "", files = [], folders = [] }) => {
    const inFolders = folders.flatMap((folder) => readdirSync(join(SRC, folder)).map((file) => `${folder}/${file}`));
    const sections = () => [...files, ...inFolders].map(fileSection);
    return { name, label, generate: () => [`# ${label}`, intro, ...sections()].join("\n\n") };
  });

/**
 * @param {Node} node
 * @returns {Node[]}
 */
const withMembers = (node) => [node, ...(node.nodes ?? [])];

/** Lists every error with its selector, which is what a tool prints that does not know the error. */
export function errorReference() {
  const rows = [...syntaxTrees()].flatMap(([file, { text, nodes }]) =>
    nodes
      .flatMap(withMembers)
      .filter(({ nodeType }) => nodeType === "ErrorDefinition")
      .map((node) => {
        /** @type {Node[]} */
        const parameters = node.parameters.parameters;
        const types = parameters.map(({ typeName }) => abiType(typeName));
        const named = parameters.map(({ name }, i) => [types[i], name].filter(Boolean).join(" "));
        const { notice } = natSpec(node.documentation, text);
        return [
          `\`${node.name}(${named.join(", ")})\``,
          `\`${toFunctionSelector(`function ${node.name}(${types.join(",")})`)}\``,
          `${notice} ([${file}](../../src/${file}))`,
        ];
      }),
  );
  return [
    "# Errors",
    "Generated from the contracts. Tools print an error that they do not know as its selector: search for it here.",
    table(["error", "selector", "meaning, and what to do"], rows.toSorted()),
  ].join("\n\n");
}

/**
 * Returns the name of a type in a signature: contracts are addresses there, and enums numbers.
 *
 * @param {Node} type
 * @returns {string}
 */
function abiType({ nodeType, name, pathNode, baseType }) {
  if (nodeType === "ElementaryTypeName") return name;
  if (nodeType === "ArrayTypeName") return `${abiType(baseType)}[]`;
  const last = pathNode.name.split(".").at(-1);
  const definitions = [...syntaxTrees().values()]
    .flatMap(({ nodes }) => nodes.flatMap(withMembers))
    .filter((node) => node.name === last);
  if (definitions.some((node) => node.nodeType === "ContractDefinition")) return "address";
  if (definitions.some((node) => node.nodeType === "EnumDefinition")) return "uint8";
  throw new Error(`The type ${pathNode.name} of an error's parameter is not known here.`);
}

/** @type {Map<string, { text: Buffer, nodes: Node[] }> | undefined} */
let trees;

/** Returns the syntax tree of every file of src/, by its path there. */
function syntaxTrees() {
  trees ??= parse();
  return trees;
}

/** @returns {Map<string, { text: Buffer, nodes: Node[] }>} */
function parse() {
  /** @type {Record<string, { content: string }>} */
  const sources = {};
  /** @param {string} file */
  const add = (file) => {
    if (sources[file]) return;
    const content = readFileSync(join(ROOT, file), "utf8");
    sources[file] = { content };
    for (const [, path = ""] of content.matchAll(/^import\s[^"]*"([^"]+)";/gm)) {
      const [from, to] = REMAPPINGS.find(([prefix]) => path.startsWith(prefix)) ?? ["", ""];
      add(from ? path.replace(from, to) : posix.join(posix.dirname(file), path));
    }
  };
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sol"));
  for (const file of files) add(`src/${file}`);
  const input = {
    language: "Solidity",
    sources,
    settings: {
      remappings: REMAPPINGS.map((pair) => pair.join("=")),
      stopAfter: "parsing",
      outputSelection: { "*": { "": ["ast"] } },
    },
  };
  /** @type {{ errors?: { severity: string, formattedMessage: string }[], sources: Record<string, { ast: Node }> }} */
  const output = JSON.parse(
    execFileSync("node", [join(ROOT, "tools/solc-wrapper.js"), "--standard-json"], {
      input: JSON.stringify(input),
      maxBuffer: 1 << 28,
      encoding: "utf8",
    }),
  );
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  return new Map(
    files.map((file) => [
      file,
      {
        text: Buffer.from(sources[`src/${file}`]?.content ?? ""),
        nodes: output.sources[`src/${file}`]?.ast.nodes ?? [],
      },
    ]),
  );
}

const GROUPS = [
  ["EnumDefinition", "Enums"],
  ["StructDefinition", "Structs"],
  ["UserDefinedValueTypeDefinition", "Types"],
  ["VariableDeclaration", "Public state"],
  ["FunctionDefinition", "Functions"],
  ["EventDefinition", "Events"],
  ["ErrorDefinition", "Errors"],
];

/** @param {string} file */
function fileSection(file) {
  const tree = syntaxTrees().get(file);
  if (tree === undefined) throw new Error(`There is no file src/${file}.`);
  const { text, nodes } = tree;
  const link = `[src/${file}](../../src/${file})`;
  const free = nodes.filter(({ nodeType }) => GROUPS.some(([type]) => type === nodeType));
  const contracts = nodes.filter(({ nodeType }) => nodeType === "ContractDefinition");
  const sections = contracts.map((contract) => {
    const doc = natSpec(contract.documentation, text);
    const kind = contract.abstract ? "abstract contract" : contract.contractKind;
    const bases = contract.baseContracts.map((/** @type {Node} */ { baseName }) => `\`${baseName.name}\``);
    return [
      `## ${contract.name}`,
      `${kind}${bases.length > 0 ? ` is ${bases.join(", ")}` : ""}, in ${link}`,
      doc.notice,
      doc.dev,
      ...members(contract.nodes, text),
    ].join("\n\n");
  });
  if (free.length === 0) return sections.join("\n\n");
  const name = posix.basename(file, ".sol");
  const [contract] = contracts;
  const title = contract ? `## Outside ${contract.name}` : `## ${name}`;
  return [...sections, `${title}\n\nin ${link}`, ...members(free, text)].join("\n\n");
}

/**
 * Describes the members of a contract that are not private.
 *
 * @param {Node[]} nodes
 * @param {Buffer} text
 */
function members(nodes, text) {
  return GROUPS.flatMap(([type, title]) => {
    const shown = nodes.filter((node) => node.nodeType === type && isShown(node));
    if (shown.length === 0) return [];
    return [`### ${title}`, ...shown.map((node) => member(node, text))];
  });
}

/** @param {Node} node */
const isShown = (node) =>
  node.nodeType === "VariableDeclaration" ? node.visibility === "public" : node.visibility !== "private";

/**
 * @param {Node} node
 * @param {Buffer} text
 */
function member(node, text) {
  const doc = natSpec(node.documentation, text);
  const name = node.name || node.kind;
  const about = doc.inherits ? `As in \`${doc.inherits}\`.` : [doc.notice, doc.dev].filter(Boolean).join("\n\n");
  const rows = [
    ...doc.params.map(([parameter, meaning]) => [`\`${parameter}\``, meaning]),
    ...doc.returns.map(([result, meaning]) => [`returns \`${result}\``, meaning]),
  ];
  return [
    `#### ${name}`,
    `\`\`\`solidity\n${signature(node, text)}\n\`\`\``,
    about,
    rows.length > 0 ? table(["name", "meaning"], rows) : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

/**
 * Returns a member as it is written in its file, without its body.
 *
 * @param {Node} node
 * @param {Buffer} text
 */
function signature(node, text) {
  const [start = 0, length = 0] = node.src.split(":").map(Number);
  const end = node.body ? Number(node.body.src.split(":")[0]) : start + length;
  const lines = text.subarray(start, end).toString().trimEnd().split("\n");
  // All lines but the first still have the indentation of their contract.
  const indent = Math.min(...lines.slice(1).map((line) => line.search(/\S|$/)));
  const header = [lines[0], ...lines.slice(1).map((line) => line.slice(indent))].join("\n");
  const isDefinition = node.nodeType === "EnumDefinition" || node.nodeType === "StructDefinition";
  return isDefinition && lines.length > 1
    ? [lines[0], ...lines.slice(1, -1).map((line) => `    ${line.trim()}`), "}"].join("\n")
    : header.replace(/;?$/, ";");
}

/**
 * Splits a NatSpec comment into its tags; text without a tag is its notice.
 *
 * @param {{ src: string } | undefined} documentation
 * @param {Buffer} file
 */
function natSpec(documentation, file) {
  /** @type {{ notice: string, dev: string, params: [string, string][], returns: [string, string][], inherits: string }} */
  const doc = { notice: "", dev: "", params: [], returns: [], inherits: "" };
  if (!documentation) return doc;
  // The tree leaves out the comment's empty lines.
  const [start = 0, length = 0] = documentation.src.split(":").map(Number);
  const lines = file
    .subarray(start, start + length)
    .toString()
    .split("\n");
  const text = lines.map((line) => line.replace(/^\s*\/\/\/ ?/, "")).join("\n");
  for (const part of text.split(/^\s*(?=@)/m)) {
    const [, tag = "notice", body = ""] = /^(?:@(\S+)\s+)?([\s\S]*)$/.exec(part) ?? [];
    const value = body.trim();
    const [, first = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(value) ?? [];
    if (tag === "inheritdoc") doc.inherits = value;
    else if (tag === "param") doc.params.push([first, rest]);
    else if (tag === "return") doc.returns.push([first, rest]);
    else if (tag === "notice" || tag === "dev") doc[tag] = [doc[tag], value].filter(Boolean).join("\n\n");
  }
  return doc;
}
