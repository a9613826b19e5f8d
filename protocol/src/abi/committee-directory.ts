// Generated from src/CommitteeDirectory.sol by `npm run abi`.

export const committeeDirectoryAbi = [
  {"type":"function","name":"announce","inputs":[{"name":"provider","type":"address"},{"name":"url","type":"string"},{"name":"issuedAt","type":"uint256"},{"name":"signature","type":"bytes"}],"outputs":[],"stateMutability":"nonpayable"},
  {"type":"function","name":"announcementOf","inputs":[{"name":"provider","type":"address"}],"outputs":[{"name":"url","type":"string"},{"name":"issuedAt","type":"uint256"}],"stateMutability":"view"},
  {"type":"function","name":"eip712Domain","inputs":[],"outputs":[{"name":"fields","type":"bytes1"},{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"},{"name":"salt","type":"bytes32"},{"name":"extensions","type":"uint256[]"}],"stateMutability":"view"},
  {"type":"event","name":"Announced","inputs":[{"name":"provider","type":"address","indexed":true},{"name":"url","type":"string","indexed":false},{"name":"issuedAt","type":"uint256","indexed":false}],"anonymous":false},
  {"type":"event","name":"EIP712DomainChanged","inputs":[],"anonymous":false},
  {"type":"error","name":"FutureAnnouncement","inputs":[{"name":"issuedAt","type":"uint256"},{"name":"blockTimestamp","type":"uint256"}]},
  {"type":"error","name":"InvalidShortString","inputs":[]},
  {"type":"error","name":"StaleAnnouncement","inputs":[{"name":"issuedAt","type":"uint256"},{"name":"latest","type":"uint256"}]},
  {"type":"error","name":"StringTooLong","inputs":[{"name":"str","type":"string"}]},
  {"type":"error","name":"UrlTooLong","inputs":[{"name":"length","type":"uint256"},{"name":"max","type":"uint256"}]},
  {"type":"error","name":"WrongSigner","inputs":[{"name":"provider","type":"address"},{"name":"signer","type":"address"}]},
] as const;
