/* The primes of RFC 3526 (sections 3 and 5), computed from its formulas, and one exchange in
 * each group, computed with plain numbers: our public value and the secret have leading zeros.
 */
#pragma once

#define GROUP14_PRIME                                                                          \
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74"                         \
    "020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437"                         \
    "4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed"                         \
    "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05"                         \
    "98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb"                         \
    "9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b"                         \
    "e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf695581718"                         \
    "3995497cea956ae515d2261898fa051015728e5a8aacaa68ffffffffffffffff"
#define GROUP14_SECRET "8afa665387472af7b00b2f37b582a214f866f9a96e35c4df2361904ea8a882d7"
#define GROUP14_PUBLIC                                                                         \
    "255101c91aab2aaf3c8e0997df59ad7872825c4c84a9be04fac9d2af84d5383a"                         \
    "d788675d11f62931c53e1784aa723c1713db736d8d2316d4a01499bb17191791"                         \
    "bb82d9be82c07b1cacb268e6053a169825e8310264edd7eb2b089f94c26e1876"                         \
    "ed8e4febfede7a9516f461f587a54401b672a96a624f241a9ddb403fd752676e"                         \
    "5e96f12d98a50c548ab061ab2fe005f19dddf6697e5092822b57ecfd4edf4208"                         \
    "edb27addcf4c64554c215bade8ded67958cdfb29559059890c096e622dd090b6"                         \
    "6ff8bde32301fada357d6a5ee2220425a26a41b7f9abe6f9afce2d0087255796"                         \
    "2e3be50340dff277d4179b1b02e113b1b0baf4eb3d7919715c5232a51df4d4"
#define GROUP14_PEER                                                                           \
    "72096852049e16c4c0c78cae31a462c0f0f6286f50482e445134e3d6c56ffe7c"                         \
    "4101f10aa96afb289d5965a2a7689c783bf85de1f7643eb3a4d6546f8dfa3e47"                         \
    "92f64e22f4d5c16b7257dfdb7f99b7427ba9fe7d7cc9dbe1c69c5afc4b317790"                         \
    "5ee569d3ce1604c38ab0daa1cdda961cb519d0305ee41c8104d9a977509a3e53"                         \
    "0c572ca5f744dc19e03b673969bdcc0efbf373cfa8861bc3eb35a20a95f9887d"                         \
    "d900aebe17e30d7baeb567bada9daca190564895b35c3f288c826560cdfdda95"                         \
    "50abd760119241ae3c024482345e8a894cabf9457e20cd5c4e52dff6ff07719b"                         \
    "26f1d52a135ea5537d66d35639cb9249cbbe1ddba60642d34afe6a2569b31465"
#define GROUP14_SHARED_SHA256                                                                  \
    "43df18ec88b6e1529ac1ac1d743be6e7751c962492facc72a0dd11a32802092a" /* of 255 bytes */
#define GROUP16_PRIME                                                                          \
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74"                         \
    "020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437"                         \
    "4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed"                         \
    "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05"                         \
    "98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb"                         \
    "9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b"                         \
    "e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf695581718"                         \
    "3995497cea956ae515d2261898fa051015728e5a8aaac42dad33170d04507a33"                         \
    "a85521abdf1cba64ecfb850458dbef0a8aea71575d060c7db3970f85a6e1e4c7"                         \
    "abf5ae8cdb0933d71e8c94e04a25619dcee3d2261ad2ee6bf12ffa06d98a0864"                         \
    "d87602733ec86a64521f2b18177b200cbbe117577a615d6c770988c0bad946e2"                         \
    "08e24fa074e5ab3143db5bfce0fd108e4b82d120a92108011a723c12a787e6d7"                         \
    "88719a10bdba5b2699c327186af4e23c1a946834b6150bda2583e9ca2ad44ce8"                         \
    "dbbbc2db04de8ef92e8efc141fbecaa6287c59474e6bc05d99b2964fa090c3a2"                         \
    "233ba186515be7ed1f612970cee2d7afb81bdd762170481cd0069127d5b05aa9"                         \
    "93b4ea988d8fddc186ffb7dc90a6c08f4df435c934063199ffffffffffffffff"
#define GROUP16_SECRET "c65d41b10aa4c43cdf8937a64501a1e24e13c05393a2a04306ff6e23b4979779"
#define GROUP16_PUBLIC                                                                         \
    "62a0d5abe8a8d065fe94e0f5764da77aba18f891fe42467f8cb9a6d6159aae20"                         \
    "d4cbe26d294ab48361128e0aefeedea94e299b042a4f6c6a3d4cfde280ad2824"                         \
    "3d5d9aaa8ddf018fa3b4e696c3b0124ef2d166fe136f26045314e200e93b6403"                         \
    "afe1417f44eb58e9176e2c82e4d451054a9ee1bee9de6e1be300c6b0cf42e982"                         \
    "219ae19f80d9cf40b2d802ebbb812ba7e6b63925eb743577ba7a36de30134ce6"                         \
    "26f0cb5fad6805203dd2a17bdd97878b39a7e6285cb6c85644146b43b36c0bf9"                         \
    "7af2e533af2fcdfeaee0712f776effc2890156974f76e330ae5672b80b6e8d17"                         \
    "f57fb4b32be96ac0527e980617bfcd0ebed223f33f0114e05ce79282e153ae89"                         \
    "96f94f115243f14b868ab2112274e2fdf09dbe190042f6fc49c3f223deed1de0"                         \
    "ae2d7348500ca3379febea689edfaa3694aa3af56b6cd408a9ea6727446315ad"                         \
    "291918e3c3ce140217722d9b6406ae49f5a6cbb7fa714126b767221a9e2459f2"                         \
    "9b761ec22d7d3515869b332b72f0bfa8c8ec10fcd4cd32d85ced74d37ea95b49"                         \
    "a49f762728533d45404beefc43bb21bf5829e2aa3f7d10fdd2432c750518a36b"                         \
    "3ab5b4e32d552f7403eb52f3cc88dcf173b08823e594a6800f4fcb70669b70b5"                         \
    "8d304bb279e9475a260f96abae1c85ba033a5453b263f89c677e092f32481372"                         \
    "bd2fbf3759b22d935e66b14ff2bb0c171b581ed5e9e2fb80d40210aac02b37"
#define GROUP16_PEER                                                                           \
    "bb8cb33c1bb09f805080f14c8cf10fe5cf2e4391cfbca42c90da44a7f2e913cf"                         \
    "344ce0e25753b1a35e2d83c2e72018fe48b8e02377b17070a9eedaa2fa37d7ab"                         \
    "e78ca81f4b79f88374aae0fa0cb950ad4943dbda64acfb9c3902a436d12f59a6"                         \
    "c055ec6dede1fdf223e649f6b56a771d53d80a64df60c7228ca35bfa5bbaa221"                         \
    "8ea12472528501e837fe6da3654d09d35ac3731b19f3787745555245754a125a"                         \
    "b8a297b028b1b99a8fda455cb213f0060ae6005099f9788e0e5eda7e8e3638af"                         \
    "c5f8f9d0e9bfb85e72bf92ce7ae4a9fe9cdef727fd28aa84bc1f16148b126797"                         \
    "97955cf59f26876c65a2d5f10bf2795b276eec91b9eb41f72ef90e78a84b2e8c"                         \
    "e528c3d1c94fc27a183a8aba6a9b5e4a455b44077a77067579f91f0157e745a7"                         \
    "8099bf2af6967b1262d0f7ff71a2642c0a4fb360c36c5462d820db9eed6686b3"                         \
    "a484663200b5c30edae9769840798fe008665ed5408c5bd018c4a7e4c5318a32"                         \
    "b492e26142b4a26c5c2edf16c5c142d7dc8e27c2783ed34e0ee77690b3dbd9c0"                         \
    "5598f38e5b65e9927491d8b42e8e3da0f81ec2ac954736afebe56c87f0bae829"                         \
    "c9097a11fc38d57e2e4c3dc8d9944ec33b4b5b8189ed9b6600b1fdb93773924d"                         \
    "1822f28cb39481ed7e0d6002d372fff49d183cc09db26ff9fcfe93adeb16e17d"                         \
    "15bb77812e86841a93abf1395580abd68a99fc0ccf1680467f38f9374007ea15"
#define GROUP16_SHARED_SHA256                                                                  \
    "47e5b818206e935fe28af3d2f59ad313e4d0510e1ae64fc654076d15010c282a" /* of 511 bytes */
