// The pages of the site, by who reads them and in the order in which they are read. pages.d.ts describes what each page
// has. A test checks that no document is missing.

import { configurationReference } from "./reference/configuration-and-specs.js";
import { contractPages } from "./reference/contracts.js";
import { httpReference } from "./reference/operator-http-api.js";
import { providerHttpReference } from "./reference/provider-http-api.js";

const page = (source, path, label) => ({ source, path, label });
/** A page that is generated with the site, so that no document can link to it. */
const generated = (name, label, generate, outline) => ({
  ...page(`docs/reference/${name}.md`, `reference/${name}/`, label),
  generate,
  outline,
});

export const SECTIONS = [
  {
    title: "Start",
    pages: [
      page("docs/README.md", "", "Overview"),
      page("docs/Tour.md", "tour/", "Five-minute tour"),
      page("docs/Comparison.md", "comparison/", "Compared with other oracles"),
    ],
  },
  {
    title: "Dapp developers",
    pages: [
      page("docs/Dapps.md", "dapps/", "Read and update values"),
      page("docs/Adapters.md", "adapters/", "Subscriptions and adapters"),
      page("examples/README.md", "examples/", "Examples and starters"),
      page("protocol/README.md", "reference/client/", "TypeScript client"),
      page("src/README.md", "reference/solidity/", "Solidity package"),
      generated("http", "HTTP API", httpReference, "2"),
      page("docs/Relaying.md", "relaying/", "Without an operator"),
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
    pages: contractPages().map(({ name, label, generate }) => generated(name, label, generate, "[2, 4]")),
  },
  {
    title: "How it works",
    pages: [
      page("docs/Protocol.md", "protocol/", "Protocol"),
      page("docs/Invariants.md", "invariants/", "Invariants"),
      page("docs/ThreatModel.md", "threat-model/", "Threat model"),
      page("docs/Gas.md", "gas/", "Gas"),
    ],
  },
  {
    title: "Project",
    pages: [
      page("SECURITY.md", "security/", "Security policy"),
      page("CONTRIBUTING.md", "contributing/", "Contributing"),
    ],
  },
];

export const PAGES = SECTIONS.flatMap(({ pages }) => pages);
