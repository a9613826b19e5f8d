// Generated from src/lens/VerifiedLens.sol by `npm run abi`.

export const verifiedLensAbi = [
  {"type":"constructor","inputs":[{"name":"gateways_","type":"string[]"}],"stateMutability":"nonpayable"},
  {"type":"function","name":"gateways","inputs":[],"outputs":[{"name":"","type":"string[]"}],"stateMutability":"view"},
  {"type":"function","name":"prove","inputs":[{"name":"dataset","type":"address"},{"name":"key","type":"bytes"},{"name":"maxAge","type":"uint256"},{"name":"update","type":"bytes"}],"outputs":[{"name":"output","type":"bytes32"},{"name":"updatedAt","type":"uint256"},{"name":"status","type":"uint8"}],"stateMutability":"view"},
  {"type":"function","name":"read","inputs":[{"name":"dataset","type":"address"},{"name":"key","type":"bytes"},{"name":"maxAge","type":"uint256"}],"outputs":[{"name":"output","type":"bytes32"},{"name":"updatedAt","type":"uint256"},{"name":"status","type":"uint8"}],"stateMutability":"view"},
  {"type":"function","name":"readCallback","inputs":[{"name":"response","type":"bytes"},{"name":"extraData","type":"bytes"}],"outputs":[{"name":"output","type":"bytes32"},{"name":"updatedAt","type":"uint256"},{"name":"status","type":"uint8"}],"stateMutability":"view"},
  {"type":"error","name":"CallNamesSender","inputs":[{"name":"sender","type":"address"}]},
  {"type":"error","name":"NoGateways","inputs":[]},
  {"type":"error","name":"NotADataset","inputs":[{"name":"dataset","type":"address"}]},
  {"type":"error","name":"NotAnUpdate","inputs":[{"name":"kind","type":"uint256"}]},
  {"type":"error","name":"OffchainLookup","inputs":[{"name":"sender","type":"address"},{"name":"urls","type":"string[]"},{"name":"callData","type":"bytes"},{"name":"callbackFunction","type":"bytes4"},{"name":"extraData","type":"bytes"}]},
  {"type":"error","name":"TooOld","inputs":[{"name":"age","type":"uint256"},{"name":"maxAge","type":"uint256"}]},
  {"type":"error","name":"UpdateOfAnotherKey","inputs":[{"name":"key","type":"bytes"},{"name":"asked","type":"bytes"}]},
  {"type":"error","name":"WrongLength","inputs":[{"name":"length","type":"uint256"},{"name":"expected","type":"uint256"}]},
] as const;
