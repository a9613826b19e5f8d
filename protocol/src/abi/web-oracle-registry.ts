// Generated from src/WebOracleRegistry.sol by `npm run abi`.

export const webOracleRegistryAbi = [
  {"type":"function","name":"publish","inputs":[{"name":"spec","type":"bytes"}],"outputs":[{"name":"specHash","type":"bytes32"}],"stateMutability":"nonpayable"},
  {"type":"function","name":"publishedAt","inputs":[{"name":"specHash","type":"bytes32"}],"outputs":[{"name":"","type":"uint256"}],"stateMutability":"view"},
  {"type":"event","name":"SpecPublished","inputs":[{"name":"specHash","type":"bytes32","indexed":true},{"name":"spec","type":"bytes","indexed":false}],"anonymous":false},
  {"type":"error","name":"WrongSpecLength","inputs":[{"name":"length","type":"uint256"},{"name":"max","type":"uint256"}]},
] as const;
