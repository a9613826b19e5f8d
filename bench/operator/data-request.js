export function dataRequest({ dataset }, key, broadcast = false) {
  return { network_id: 42, dataset, key, broadcast };
}
