// Generated from src/MedianDataset.sol by `npm run abi`.

export const datasetAbi = [
  {
    "type": "constructor",
    "inputs": [
      {
        "name": "settings",
        "type": "tuple",
        "components": [
          {
            "name": "owner",
            "type": "address"
          },
          {
            "name": "keyForm",
            "type": "uint8"
          },
          {
            "name": "maxRoundAge",
            "type": "uint256"
          },
          {
            "name": "priceCeiling",
            "type": "uint256"
          },
          {
            "name": "queryPrice",
            "type": "uint256"
          },
          {
            "name": "subscriptionPriceCeiling",
            "type": "uint256"
          },
          {
            "name": "subscriptionPrice",
            "type": "uint256"
          },
          {
            "name": "repaymentInterval",
            "type": "uint256"
          },
          {
            "name": "repaymentFeeCap",
            "type": "uint256"
          },
          {
            "name": "toleranceBps",
            "type": "uint256"
          },
          {
            "name": "members",
            "type": "address[]"
          }
        ]
      }
    ],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "acceptOwnership",
    "inputs": [],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "accuse",
    "inputs": [
      {
        "name": "keyHash",
        "type": "bytes32"
      },
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "a",
        "type": "tuple",
        "components": [
          {
            "name": "outcome",
            "type": "uint256"
          },
          {
            "name": "keyHashes",
            "type": "bytes32[]"
          },
          {
            "name": "values",
            "type": "bytes32[]"
          },
          {
            "name": "index",
            "type": "uint256"
          },
          {
            "name": "r",
            "type": "bytes32"
          },
          {
            "name": "vs",
            "type": "bytes32"
          }
        ]
      },
      {
        "name": "b",
        "type": "tuple",
        "components": [
          {
            "name": "outcome",
            "type": "uint256"
          },
          {
            "name": "keyHashes",
            "type": "bytes32[]"
          },
          {
            "name": "values",
            "type": "bytes32[]"
          },
          {
            "name": "index",
            "type": "uint256"
          },
          {
            "name": "r",
            "type": "bytes32"
          },
          {
            "name": "vs",
            "type": "bytes32"
          }
        ]
      },
      {
        "name": "members",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "announce",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "claimShares",
    "inputs": [
      {
        "name": "to",
        "type": "address"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "committeeBlock",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "committeeHash",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "costOfSubscription",
    "inputs": [],
    "outputs": [
      {
        "name": "price",
        "type": "uint256"
      },
      {
        "name": "period",
        "type": "uint256"
      },
      {
        "name": "ceiling",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "eip712Domain",
    "inputs": [],
    "outputs": [
      {
        "name": "fields",
        "type": "bytes1"
      },
      {
        "name": "name",
        "type": "string"
      },
      {
        "name": "version",
        "type": "string"
      },
      {
        "name": "chainId",
        "type": "uint256"
      },
      {
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "name": "salt",
        "type": "bytes32"
      },
      {
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "judgement",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "pure"
  },
  {
    "type": "function",
    "name": "keyForm",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "maxRoundAge",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "owner",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "pendingOwner",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "priceCeiling",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "query",
    "inputs": [
      {
        "name": "input",
        "type": "bytes"
      }
    ],
    "outputs": [
      {
        "name": "output",
        "type": "bytes32"
      },
      {
        "name": "updatedAt",
        "type": "uint256"
      },
      {
        "name": "status",
        "type": "uint8"
      }
    ],
    "stateMutability": "payable"
  },
  {
    "type": "function",
    "name": "queryPrice",
    "inputs": [],
    "outputs": [
      {
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "read",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      }
    ],
    "outputs": [
      {
        "name": "output",
        "type": "bytes32"
      },
      {
        "name": "updatedAt",
        "type": "uint256"
      },
      {
        "name": "status",
        "type": "uint8"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "renounceOwnership",
    "inputs": [],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "repaymentRule",
    "inputs": [],
    "outputs": [
      {
        "name": "interval",
        "type": "uint256"
      },
      {
        "name": "feeCap",
        "type": "uint256"
      },
      {
        "name": "gasPerKey",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "setCommittee",
    "inputs": [
      {
        "name": "members",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "setQueryPrice",
    "inputs": [
      {
        "name": "price",
        "type": "uint256"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "setSubscriptionPrice",
    "inputs": [
      {
        "name": "price",
        "type": "uint256"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "shareIncome",
    "inputs": [
      {
        "name": "members",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "subscribe",
    "inputs": [
      {
        "name": "reader",
        "type": "address"
      },
      {
        "name": "periods",
        "type": "uint256"
      }
    ],
    "outputs": [
      {
        "name": "until",
        "type": "uint256"
      }
    ],
    "stateMutability": "payable"
  },
  {
    "type": "function",
    "name": "subscribedUntil",
    "inputs": [
      {
        "name": "reader",
        "type": "address"
      }
    ],
    "outputs": [
      {
        "name": "until",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "transferOwnership",
    "inputs": [
      {
        "name": "newOwner",
        "type": "address"
      }
    ],
    "outputs": [],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "unpaidShares",
    "inputs": [
      {
        "name": "member",
        "type": "address"
      }
    ],
    "outputs": [
      {
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "unsharedIncomeOf",
    "inputs": [
      {
        "name": "committee",
        "type": "bytes32"
      }
    ],
    "outputs": [
      {
        "name": "income",
        "type": "uint256"
      }
    ],
    "stateMutability": "view"
  },
  {
    "type": "function",
    "name": "update",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      },
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "value",
        "type": "bytes32"
      },
      {
        "name": "signers",
        "type": "uint256"
      },
      {
        "name": "reports",
        "type": "tuple[]",
        "components": [
          {
            "name": "content",
            "type": "bytes32"
          },
          {
            "name": "r",
            "type": "bytes32"
          },
          {
            "name": "vs",
            "type": "bytes32"
          }
        ]
      },
      {
        "name": "absentees",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [
      {
        "name": "status",
        "type": "uint8"
      },
      {
        "name": "isNew",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "updateBatch",
    "inputs": [
      {
        "name": "batch",
        "type": "tuple",
        "components": [
          {
            "name": "keyHashes",
            "type": "bytes32[]"
          },
          {
            "name": "picks",
            "type": "bytes"
          },
          {
            "name": "timestamp",
            "type": "uint256"
          },
          {
            "name": "values",
            "type": "bytes32[]"
          },
          {
            "name": "signers",
            "type": "uint256"
          },
          {
            "name": "rows",
            "type": "tuple[]",
            "components": [
              {
                "name": "content",
                "type": "bytes32"
              },
              {
                "name": "r",
                "type": "bytes32"
              },
              {
                "name": "vs",
                "type": "bytes32"
              }
            ]
          },
          {
            "name": "absentees",
            "type": "address[]"
          },
          {
            "name": "toleranceBps",
            "type": "uint256"
          }
        ]
      }
    ],
    "outputs": [
      {
        "name": "outcomes",
        "type": "uint8[]"
      }
    ],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "updateNotAvailable",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      },
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "signers",
        "type": "uint256"
      },
      {
        "name": "reports",
        "type": "tuple[]",
        "components": [
          {
            "name": "content",
            "type": "bytes32"
          },
          {
            "name": "r",
            "type": "bytes32"
          },
          {
            "name": "vs",
            "type": "bytes32"
          }
        ]
      },
      {
        "name": "absentees",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [
      {
        "name": "status",
        "type": "uint8"
      },
      {
        "name": "isNew",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable"
  },
  {
    "type": "function",
    "name": "verify",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      },
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "value",
        "type": "bytes32"
      },
      {
        "name": "signers",
        "type": "uint256"
      },
      {
        "name": "reports",
        "type": "tuple[]",
        "components": [
          {
            "name": "content",
            "type": "bytes32"
          },
          {
            "name": "r",
            "type": "bytes32"
          },
          {
            "name": "vs",
            "type": "bytes32"
          }
        ]
      },
      {
        "name": "absentees",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [
      {
        "name": "output",
        "type": "bytes32"
      },
      {
        "name": "updatedAt",
        "type": "uint256"
      },
      {
        "name": "status",
        "type": "uint8"
      }
    ],
    "stateMutability": "payable"
  },
  {
    "type": "function",
    "name": "verifyNotAvailable",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      },
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "signers",
        "type": "uint256"
      },
      {
        "name": "reports",
        "type": "tuple[]",
        "components": [
          {
            "name": "content",
            "type": "bytes32"
          },
          {
            "name": "r",
            "type": "bytes32"
          },
          {
            "name": "vs",
            "type": "bytes32"
          }
        ]
      },
      {
        "name": "absentees",
        "type": "address[]"
      },
      {
        "name": "toleranceBps",
        "type": "uint256"
      }
    ],
    "outputs": [
      {
        "name": "output",
        "type": "bytes32"
      },
      {
        "name": "updatedAt",
        "type": "uint256"
      },
      {
        "name": "status",
        "type": "uint8"
      }
    ],
    "stateMutability": "payable"
  },
  {
    "type": "event",
    "name": "CommitteeChanged",
    "inputs": [
      {
        "name": "members",
        "type": "address[]",
        "indexed": false
      },
      {
        "name": "toleranceBps",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "EIP712DomainChanged",
    "inputs": [],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "IncomeShared",
    "inputs": [
      {
        "name": "share",
        "type": "uint256",
        "indexed": false
      },
      {
        "name": "paid",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "KeyAdded",
    "inputs": [
      {
        "name": "keyHash",
        "type": "bytes32",
        "indexed": true
      },
      {
        "name": "key",
        "type": "bytes",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "MemberEjected",
    "inputs": [
      {
        "name": "member",
        "type": "address",
        "indexed": true
      },
      {
        "name": "accuser",
        "type": "address",
        "indexed": true
      },
      {
        "name": "reward",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "OwnershipTransferStarted",
    "inputs": [
      {
        "name": "previousOwner",
        "type": "address",
        "indexed": true
      },
      {
        "name": "newOwner",
        "type": "address",
        "indexed": true
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "OwnershipTransferred",
    "inputs": [
      {
        "name": "previousOwner",
        "type": "address",
        "indexed": true
      },
      {
        "name": "newOwner",
        "type": "address",
        "indexed": true
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "QueryPriceChanged",
    "inputs": [
      {
        "name": "price",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "ShareRefused",
    "inputs": [
      {
        "name": "member",
        "type": "address",
        "indexed": true
      },
      {
        "name": "share",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "SharesClaimed",
    "inputs": [
      {
        "name": "member",
        "type": "address",
        "indexed": true
      },
      {
        "name": "to",
        "type": "address",
        "indexed": true
      },
      {
        "name": "amount",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "Subscribed",
    "inputs": [
      {
        "name": "reader",
        "type": "address",
        "indexed": true
      },
      {
        "name": "payer",
        "type": "address",
        "indexed": true
      },
      {
        "name": "until",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "SubscriptionPriceChanged",
    "inputs": [
      {
        "name": "price",
        "type": "uint256",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "event",
    "name": "Updated",
    "inputs": [
      {
        "name": "keyHash",
        "type": "bytes32",
        "indexed": true
      },
      {
        "name": "value",
        "type": "bytes32",
        "indexed": false
      },
      {
        "name": "timestamp",
        "type": "uint256",
        "indexed": false
      },
      {
        "name": "status",
        "type": "uint8",
        "indexed": false
      }
    ],
    "anonymous": false
  },
  {
    "type": "error",
    "name": "ClaimRejected",
    "inputs": [
      {
        "name": "to",
        "type": "address"
      },
      {
        "name": "amount",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "CommitteeTooSmall",
    "inputs": [
      {
        "name": "members",
        "type": "uint256"
      },
      {
        "name": "min",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "DifferentSigners",
    "inputs": [
      {
        "name": "a",
        "type": "address"
      },
      {
        "name": "b",
        "type": "address"
      }
    ]
  },
  {
    "type": "error",
    "name": "ExpiredRound",
    "inputs": [
      {
        "name": "age",
        "type": "uint256"
      },
      {
        "name": "maxAge",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "FutureRound",
    "inputs": [
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "blockTimestamp",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "InvalidKey",
    "inputs": [
      {
        "name": "key",
        "type": "bytes"
      }
    ]
  },
  {
    "type": "error",
    "name": "NoContradiction",
    "inputs": [
      {
        "name": "a",
        "type": "bytes32"
      },
      {
        "name": "b",
        "type": "bytes32"
      }
    ]
  },
  {
    "type": "error",
    "name": "NoPeriods",
    "inputs": []
  },
  {
    "type": "error",
    "name": "NoQuorum",
    "inputs": [
      {
        "name": "signers",
        "type": "uint256"
      },
      {
        "name": "absentees",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "NotAMember",
    "inputs": [
      {
        "name": "signer",
        "type": "address"
      }
    ]
  },
  {
    "type": "error",
    "name": "NothingToClaim",
    "inputs": [
      {
        "name": "member",
        "type": "address"
      }
    ]
  },
  {
    "type": "error",
    "name": "NothingToShare",
    "inputs": [
      {
        "name": "committeeHash",
        "type": "bytes32"
      }
    ]
  },
  {
    "type": "error",
    "name": "OwnableInvalidOwner",
    "inputs": [
      {
        "name": "owner",
        "type": "address"
      }
    ]
  },
  {
    "type": "error",
    "name": "OwnableUnauthorizedAccount",
    "inputs": [
      {
        "name": "account",
        "type": "address"
      }
    ]
  },
  {
    "type": "error",
    "name": "PriceAboveCeiling",
    "inputs": [
      {
        "name": "price",
        "type": "uint256"
      },
      {
        "name": "ceiling",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "ReentrancyGuardReentrantCall",
    "inputs": []
  },
  {
    "type": "error",
    "name": "RewardRejected",
    "inputs": [
      {
        "name": "accuser",
        "type": "address"
      },
      {
        "name": "amount",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "RoundBeforeCommittee",
    "inputs": [
      {
        "name": "timestamp",
        "type": "uint256"
      },
      {
        "name": "beginning",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "SubscriptionNeeded",
    "inputs": [
      {
        "name": "reader",
        "type": "address"
      },
      {
        "name": "price",
        "type": "uint256"
      },
      {
        "name": "period",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "SubscriptionTooLong",
    "inputs": [
      {
        "name": "until",
        "type": "uint256"
      },
      {
        "name": "latest",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "ToleranceTooHigh",
    "inputs": [
      {
        "name": "toleranceBps",
        "type": "uint256"
      },
      {
        "name": "max",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "TooLittleGas",
    "inputs": [
      {
        "name": "left",
        "type": "uint256"
      },
      {
        "name": "needed",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "TooManyKeys",
    "inputs": [
      {
        "name": "keys",
        "type": "uint256"
      },
      {
        "name": "max",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "Undecided",
    "inputs": [
      {
        "name": "reports",
        "type": "uint256"
      },
      {
        "name": "absentees",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "UnsortedCommittee",
    "inputs": [
      {
        "name": "member",
        "type": "address"
      },
      {
        "name": "next",
        "type": "address"
      }
    ]
  },
  {
    "type": "error",
    "name": "ValueTooLarge",
    "inputs": [
      {
        "name": "value",
        "type": "bytes32"
      },
      {
        "name": "max",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongCommittee",
    "inputs": [
      {
        "name": "shown",
        "type": "bytes32"
      },
      {
        "name": "stored",
        "type": "bytes32"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongCommitteeSize",
    "inputs": [
      {
        "name": "members",
        "type": "uint256"
      },
      {
        "name": "max",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongKey",
    "inputs": [
      {
        "name": "named",
        "type": "bytes32"
      },
      {
        "name": "keyHash",
        "type": "bytes32"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongMajority",
    "inputs": [
      {
        "name": "claimed",
        "type": "bytes32"
      },
      {
        "name": "majority",
        "type": "bytes32"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongMedian",
    "inputs": [
      {
        "name": "claimed",
        "type": "bytes32"
      },
      {
        "name": "below",
        "type": "uint256"
      },
      {
        "name": "above",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongPayment",
    "inputs": [
      {
        "name": "sent",
        "type": "uint256"
      },
      {
        "name": "price",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongPickCount",
    "inputs": [
      {
        "name": "picks",
        "type": "uint256"
      },
      {
        "name": "keys",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongSigners",
    "inputs": [
      {
        "name": "signers",
        "type": "uint256"
      },
      {
        "name": "reports",
        "type": "uint256"
      },
      {
        "name": "absentees",
        "type": "uint256"
      }
    ]
  },
  {
    "type": "error",
    "name": "WrongValueCount",
    "inputs": [
      {
        "name": "values",
        "type": "uint256"
      },
      {
        "name": "expected",
        "type": "uint256"
      }
    ]
  }
] as const;
