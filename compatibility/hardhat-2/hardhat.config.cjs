module.exports = { networks: { hardhat: { chainId: 42, mining: { auto: false, interval: 1000 } } } };
