// The pages of the site, by who reads them and in the order in which they are read. pages.d.ts describes what each page
// has. A test checks that no document is missing.

import { configurationReference } from "./reference/configuration-and-specs.js";
import { contractPages, errorReference } from "./reference/contracts.js";
import { guardReference } from "./reference/guards.js";
import { httpReference } from "./reference/operator-http-api.js";
import { providerHttpReference } from "./reference/provider-http-api.js";

/**
 * @param {string} source
 * @param {string} path
 * @param {string} label
 */
const page = (source, path, label) => ({ source, path, label });
/**
 * A page that is generated with the site, so that no document can link to it.
 *
 * @param {string} name
 * @param {string} label
 * @param {import("./pages.js").Page["generate"]} generate
 * @param {string} [outline]
 */
const generated = (name, label, generate, outline) => ({
  ...page(`docs/reference/${name}.md`, `reference/${name}/`, label),
  generate,
  outline,
});

export const SECTIONS = [
  {
    title: "Start",
    pages: [
      page("README.md", "", "Overview"),
      page("docs/Comparison.md", "comparison/", "Compared with other oracles"),
    ],
  },
  {
    title: "Contracts and dapps",
    pages: [
      page("docs/Solidity.md", "solidity/", "Read in a contract"),
      page("docs/Dapps.md", "dapps/", "Request and read off chain"),
      page("examples/README.md", "examples/", "Examples and starters"),
      page("examples/indexer/README.md", "examples/indexer/", "Indexer"),
      page("docs/Adapters.md", "adapters/", "Subscriptions and adapters"),
      page("docs/Relaying.md", "relaying/", "Without an operator"),
      page("src/README.md", "reference/solidity/", "Solidity package"),
      page("protocol/README.md", "reference/client/", "TypeScript client"),
      generated("http", "HTTP API", httpReference, "2"),
    ],
  },
  {
    title: "Web Oracle",
    pages: [
      page("docs/WebOracle.md", "web-oracle/", "Any value of a web API"),
      page("docs/Cookbook.md", "cookbook/", "Cookbook"),
    ],
  },
  {
    title: "Datasets",
    pages: [
      page("docs/datasets/financial.md", "datasets/financial/", "Financial"),
      page("docs/datasets/web-oracle-number.md", "datasets/web-oracle-number/", "Web Oracle number"),
      page("docs/datasets/web-oracle-bytes.md", "datasets/web-oracle-bytes/", "Web Oracle bytes"),
    ],
  },
  {
    title: "Operators and providers",
    pages: [
      page("operator/deploy/README.md", "operators/", "Run an operator"),
      page("operator/README.md", "reference/operator/", "The operator"),
      page("provider/deploy/README.md", "providers/", "Run a provider"),
      page("provider/README.md", "reference/provider/", "The provider"),
      generated("provider-http", "The provider's HTTP API", providerHttpReference, "2"),
      generated("configuration", "Configuration", configurationReference),
      page("script/README.md", "reference/scripts/", "Deploy and govern"),
      page("deployments/README.md", "reference/deployments/", "Deployment files"),
    ],
  },
  {
    title: "Contracts",
    pages: [
      ...contractPages().map(({ name, label, generate }) => generated(name, label, generate, "[2, 4]")),
      generated("errors", "Errors", errorReference),
    ],
  },
  {
    title: "Security",
    pages: [
      page("SECURITY.md", "security/", "Security policy"),
      page("docs/ThreatModel.md", "threat-model/", "Threat model"),
      page("docs/Protocol.md", "protocol/", "Protocol"),
      page("docs/Invariants.md", "invariants/", "Invariants"),
      generated("guards", "Guards and their tests", guardReference),
      page("docs/Gas.md", "gas/", "Gas"),
    ],
  },
  {
    title: "Contributors",
    pages: [
      page("ARCHITECTURE.md", "architecture/", "Architecture"),
      page("CONTRIBUTING.md", "contributing/", "Contributing"),
    ],
  },
];

export const PAGES = SECTIONS.flatMap(({ pages }) => pages);
