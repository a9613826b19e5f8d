import { DEVNET } from "../../devnet-addresses.js";

/** Makes commands ask the operator that serves this site under `/guide/`, wherever it runs, about what it serves. */
export async function replaceDevnetAddresses(): Promise<void> {
  const [, operator] = /^(.*)\/guide\/$/.exec(`${location.origin}${import.meta.env.BASE_URL}`) ?? [];
  const content = document.querySelector(".vp-doc");
  if (!operator || !content) return;
  // They are found before their operator is replaced.
  const requests = [...content.querySelectorAll(".language-sh pre")].filter(
    ({ textContent }) => /\bcurl\b/.test(textContent) && textContent.includes(DEVNET.operator),
  );
  replace(content, [[DEVNET.operator, operator]]);
  if (requests.length === 0) return;
  const replacements = await served(operator);
  for (const request of requests) replace(request, replacements);
}

type Replacement = readonly [from: string, to: string];

/** What is read of an operator's `GET /overview`. */
interface Overview {
  readonly networks: readonly {
    readonly network_id: number;
    readonly verified_lens?: string;
    readonly datasets: readonly {
      readonly name: string;
      readonly dataset: string;
      readonly providers: readonly { readonly address: string }[];
    }[];
  }[];
}

let known: Promise<readonly Replacement[]> | undefined;

/**
 * Returns what the operator serves instead of the devnet's network, datasets, lens and first provider. The operator is
 * asked once, and again on the next page if it could not be reached.
 */
function served(operator: string): Promise<readonly Replacement[]> {
  known ??= fetch(`${operator}/overview`, { signal: AbortSignal.timeout(10_000) })
    .then((response) => (response.ok ? response.json() : { networks: [] }))
    .then(({ networks }: Overview) => replacementsOf(networks))
    .catch(() => {
      known = undefined;
      return [];
    });
  return known;
}

/** Takes the first network that has a dataset of the devnet's, by name. */
function replacementsOf(networks: Overview["networks"]): readonly Replacement[] {
  const devnet = new Map<string, string>(Object.entries(DEVNET.datasets));
  const network = networks.find(({ datasets }) => datasets.some(({ name }) => devnet.has(name)));
  if (network === undefined) return [];
  const id = network.network_id;
  const datasets = network.datasets.filter(({ name }) => devnet.has(name));
  const addresses: readonly Replacement[] = [
    ...datasets.map(({ name, dataset }): Replacement => [devnet.get(name) ?? dataset, dataset]),
    [DEVNET.lens, network.verified_lens ?? DEVNET.lens],
    [DEVNET.provider, datasets[0]?.providers[0]?.address ?? DEVNET.provider],
  ];
  // In calldata an address is in lower case and has no 0x.
  const bare = (address: string) => address.slice(2).toLowerCase();
  return [
    ...addresses,
    ...addresses.map(([from, to]): Replacement => [bare(from), bare(to)]),
    ...['"network_id":', '"network_id": ', "network_id=", "/gateway/", "/datasets/"].map(
      (before): Replacement => [`${before}${DEVNET.networkId}`, `${before}${id}`],
    ),
  ];
}

function replace(element: Element, replacements: readonly Replacement[]) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    const replaced = replacements.reduce((data, [from, to]) => data.replaceAll(from, to), text.data);
    if (replaced !== text.data) text.data = replaced;
  }
}
