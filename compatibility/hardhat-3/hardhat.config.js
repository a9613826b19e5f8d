export default { networks: { node: { type: "edr-simulated", chainId: 42, mining: { auto: false, interval: 1000 } } } };
