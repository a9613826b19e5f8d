import { DEVNET } from "../../devnet-addresses.js";

/** Makes commands ask the operator that serves this site under `/guide/`, wherever it runs, about what it serves. */
export async function replaceDevnetAddresses() {
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

let known;

/**
 * Returns what the operator serves instead of the devnet's network, datasets, lens and first provider. The operator is
 * asked once, and again on the next page if it could not be reached.
 */
function served(operator) {
  known ??= fetch(`${operator}/overview`, { signal: AbortSignal.timeout(10_000) })
    .then((response) => (response.ok ? response.json() : { networks: [] }))
    .then(({ networks }) => replacementsOf(networks))
    .catch(() => {
      known = undefined;
      return [];
    });
  return known;
}

/** Takes the first network that has a dataset of the devnet's, by name. */
function replacementsOf(networks) {
  const names = Object.keys(DEVNET.datasets);
  const network = networks.find(({ datasets }) => datasets.some(({ name }) => names.includes(name)));
  if (network === undefined) return [];
  const id = network.network_id;
  const datasets = network.datasets.filter(({ name }) => names.includes(name));
  const addresses = [
    ...datasets.map(({ name, dataset }) => [DEVNET.datasets[name], dataset]),
    [DEVNET.lens, network.verified_lens ?? DEVNET.lens],
    [DEVNET.provider, datasets[0].providers[0]?.address ?? DEVNET.provider],
  ];
  // In calldata an address is in lower case and has no 0x.
  const bare = (address) => address.slice(2).toLowerCase();
  return [
    ...addresses,
    ...addresses.map(([devnet, own]) => [bare(devnet), bare(own)]),
    ...['"network_id":', '"network_id": ', "network_id=", "/gateway/", "/datasets/"].map((before) => [
      `${before}${DEVNET.networkId}`,
      `${before}${id}`,
    ]),
  ];
}

function replace(element, replacements) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    const replaced = replacements.reduce((data, [from, to]) => data.replaceAll(from, to), text.data);
    if (replaced !== text.data) text.data = replaced;
  }
}
