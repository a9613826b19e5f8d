export function dataRequestBody({ dataset }, key, broadcast = false) {
  return { network_id: 42, dataset, key, broadcast };
}
