#include "ssh/wire/packet.h"

#include <errno.h>

#include "base/fault.h"
#include "base/wire.h"
#include "ssh_bytes.h"

#define SEQUENCE UINT32_C(0xfffffffe) /* of the first packet: the third one's is 0 */

static const struct suite {
    enum ssh_cipher_kind cipher;
    enum ssh_mac_kind mac;
    const char *iv; /* counters that carry over */
    size_t block, tag;
    /* Three packets, one behind the other, made by another implementation of the ciphers. */
    const char *packets[3];
} suites[] = {
    {SSH_CIPHER_NONE,
     SSH_MAC_NONE,
     "",
     8,
     0,
     {"00000014055e000000000000000568656c6c6f5555555555",
      "000000340a020910171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2"
      "e9f0f7fe050c131a55555555555555555555",
      "0000000c0a1555555555555555555555"}},
    {SSH_CIPHER_AES128_GCM,
     SSH_MAC_NONE,
     "a0a1a2a3fffffffffffffffe",
     16,
     16,
     {"00000020e26dd9824330602342d1cb5da01fae820a9dfe65f10ba14c88dc5b99723add95f487"
      "ce521d52199d832f2635418ba20c",
      "0000003040c379c2caf431d0cf7401cdadec3296969a5b66045e3e8998cfab7bf8976f9ae3ae"
      "4dc4a306c04204fe13de75f8725779730bbbaf8ee2c80f0b2b8d52c133a0",
      "00000010781602c1cd75f394cd1104623eb1064eddb05e36b2078d5f920974cc26fc5cab"}},
    {SSH_CIPHER_AES256_GCM,
     SSH_MAC_NONE,
     "a0a1a2a3fffffffffffffffe",
     16,
     16,
     {"00000020f3dcb7494064c4634aea779151f8762848141d75af9bf25a1a3c63fd2aea614b3274"
      "8af853fba123c0d6a08466bd1e35",
      "000000305ca3b358f6785c4c3d20f6d89797d6d2d5706059e848152355474304b7f3f069840a"
      "458e0fd37e09a124df63b2b30ba216c52d124a38f7da298de82e31185a01",
      "00000010cdbef60e84685210146889c63ab91a2950d14d9950d7c9074eb444581f954331"}},
    {SSH_CIPHER_CHACHA20,
     SSH_MAC_NONE,
     "",
     8,
     16,
     {"9fcfc9d4623207b8618908263e2a30cfa344ffec73da3958710427edc864fa9cbdfe2ba7751f"
      "7b92660d555a",
      "5d99df2207feaea94b8ea390ca697f9c277d57dd954922c3427178abbf516d170a5e1205ce72"
      "96e6b83a6eaee3d64f43ef05e9a4b607b46c50a68231646790e7c96a69d2",
      "845ade075586e5feaa91da16a5646b3dc4e93ef935376a963fd48df9"}},
    {SSH_CIPHER_AES128_CTR,
     SSH_MAC_SHA256_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"00000020f26a01301dceaae5a484ca2cf795a831e5d501fb93deb53409750b3c9d7d6e9c70a5"
      "1e10d38cd5157b00a5841de801e924dccb207da69e9203e32675ba4de8a6",
      "00000030aa26dc61d6953649fe19f77ad69759d0b85c755ca6cf5202d8a671749ac0d121cd07"
      "4e3e3486308b759ce3e6f8199ec7f8180aefa514f6f932eaf7f8f950b7a978962b29c4b0cf49"
      "e9561a00a64633ca",
      "000000102a49c313a0e1b08319341755c36db7b82df8254a9860ad454d7bbbe491ee976c3bc5"
      "8abcfe7bc32ad53e460082da0ffa"}},
    {SSH_CIPHER_AES128_CTR,
     SSH_MAC_SHA512_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"00000020f26a01301dceaae5a484ca2cf795a831e5d501fb93deb53409750b3c9d7d6e9c5ee0"
      "13cd5892c1667be5faa33be0e213d3c5c1478dc2ea96e42149e2a47c35b0178ba41f8a0d4f27"
      "adc4675ea6cdaa9d64fb8bbe9e8db138900a109ddc6c56d6",
      "00000030aa26dc61d6953649fe19f77ad69759d0b85c755ca6cf5202d8a671749ac0d121cd07"
      "4e3e3486308b759ce3e6f8199ec7c38fbd3bc9e684476b82a52c986124f4e9e93c7635f0748a"
      "59785a61a8d3bf0b960acb8003ca59b5cf2a8ba88fe0b3cd8bcaba24aa26ef3b29afde083d8f"
      "6ca5",
      "000000102a49c313a0e1b08319341755c36db7b8534f535f539faa1b67243646fe87662c7aaa"
      "f6ee3559627b29274a0329c52d30fbef0763c728695295f936fdf91dacd5cae3441a74fc4168"
      "ba2ddd9dcbbcaae8"}},
    {SSH_CIPHER_AES192_CTR,
     SSH_MAC_SHA256_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"000000206591d7ccb13abe233bcc8cab74d6d5a5a8f3dfe9b8daadcf04a0099de39323c364fd"
      "803c0e4f0eabe505b8ab9f0d357f9449f534a004fd79548c76671a8e9a14",
      "0000003098f774d65d62ee8e1272f8992d4c6ade2064d17f74ec4c5cfe697ff49b8a27151bd2"
      "4a7114ffd1766698f814f0ce6cfeec623db1be0d306c5c41315d9a279fa9c23a6d7294197ccc"
      "181e19d7b3d4c4ea",
      "00000010f33fac81326db3391923bab3577d311580d332d98c429d9083eb41eb44b9fc206806"
      "e105f92bb3993aad589be7146e72"}},
    {SSH_CIPHER_AES192_CTR,
     SSH_MAC_SHA512_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"000000206591d7ccb13abe233bcc8cab74d6d5a5a8f3dfe9b8daadcf04a0099de39323c3238d"
      "cd7b7b0f633d99ad8231c59b913d0ad4c43bee9f90224ef5ed41da1957618cb45e538876b559"
      "ecdeec993423f4015f95287259552e8b4cf3f5ec1220459c",
      "0000003098f774d65d62ee8e1272f8992d4c6ade2064d17f74ec4c5cfe697ff49b8a27151bd2"
      "4a7114ffd1766698f814f0ce6cfe25cc249cb700c95539ae179f33619a2c861547354fe3a9bd"
      "e6faa1f7d69454c49c58f29ba39e381dd63f2236531e127b71da902281583a1af0730a5d3054"
      "5aad",
      "00000010f33fac81326db3391923bab3577d311539de56041365dab9b87078910c294f000428"
      "e26022d44edc183b28dfa4d3f8465742fd7a056006348378ee88adb41d25a29f3317a000215e"
      "50a0c9e8e1804cef"}},
    {SSH_CIPHER_AES256_CTR,
     SSH_MAC_SHA256_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"00000020ae848c183ea6cfd5d0748718998914ad21bbea47854e00bbc1119581f47630d01246"
      "54e1cbdf6cd05402848719d1ecf506d334ed403bb08ac5dc6b5c6ecfa73b",
      "000000301e50e94f4e996609acd1aed88233696c9f56b5c3fc6aaa9d1e650414406ad33fb95d"
      "fdd28aa3e821f4fed7382ce5d639652261e43e6dbaa645bb166e500a6829d2168f525bc36493"
      "6889658ec0886939",
      "000000108c04f1708b34914211404adbc5749d1b140c13269966cc7c0b108bcf1fe318d2df98"
      "54feb6226a34c339afc43b3229c7"}},
    {SSH_CIPHER_AES256_CTR,
     SSH_MAC_SHA512_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"00000020ae848c183ea6cfd5d0748718998914ad21bbea47854e00bbc1119581f47630d0e6bc"
      "d29887b480b9c89688a71bf599e5ca657db4316494b324aec97472365413292ea9a3b7ddd9d6"
      "97e7b46cc335101026f1a937d0592c900722fe8992ce283d",
      "000000301e50e94f4e996609acd1aed88233696c9f56b5c3fc6aaa9d1e650414406ad33fb95d"
      "fdd28aa3e821f4fed7382ce5d6394c743a634ffbabf02f8fa5261ad47e9f5c2b7b681e40c271"
      "fb1989e9886011f6c14d8565195107f0f59459060591186ee5813e5efcf0851f687cff138a95"
      "37f2",
      "000000108c04f1708b34914211404adbc5749d1bcdc84de3e502739cc4322dd2b567dcabff4d"
      "45e76c5c2d172aa7d77307a14facaeb7d3d64543a5ff43237eb5213ea2f9ed4cbb30856e026b"
      "d04ec55f9ea4c6d3"}},
    {SSH_CIPHER_AES128_CTR,
     SSH_MAC_SHA256,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"e334012c1090aae5a481a2499bfcaf01dcec3bfb93deb53409750b3c9d7d6e9cc63239dba4d4"
      "92fdcd42cd9f41219721ac25fa6f9d195b59c9706935ddbb736e",
      "ac24d54dd3891a75da3d931eaafb45fc9c7851b84a33be1efc82555086acad4da9236a1a189a"
      "dc779178b3bfbe569ec77109c313a0e1b08319341755c36db7b88c92bda2913df42170f3e8b5"
      "244f51bcd08cadf16c49a22b1bb7b84e2075985b",
      "3f37e0e359d5469ebcc000509caf6e74cff9686f0999c5d03d2fe8d87372f0deb868900e6cd0"
      "7937f5d38376093b1cef"}},
    {SSH_CIPHER_AES128_CTR,
     SSH_MAC_SHA512,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"e334012c1090aae5a481a2499bfcaf01dcec3bfb93deb53409750b3c9d7d6e9c2c1923cd0021"
      "2ee7c4510342db1ad9eebc7470c86cc9702cc7a0431e90580f2578e7dae81ea1d4041fb0f6e8"
      "ffe1bc0550b5b3ee0879b0d8c0a82f8f9dea9101",
      "ac24d54dd3891a75da3d931eaafb45fc9c7851b84a33be1efc82555086acad4da9236a1a189a"
      "dc779178b3bfbe569ec77109c313a0e1b08319341755c36db7b84ecdf218deaad61fb1614521"
      "24bd6471fb029591b8c1a5ccf0a396f7ab31fa6f04243c3890497f3357bd930d681d4198a1b7"
      "db48e1d45bee1b04427facb355ca",
      "3f37e0e359d5469ebcc000509caf6e744517922447f344ef901df433be5b327549c29704f14c"
      "81c88ed6f97eeb3bafee352fc034fba87efe66c1be088f85b18b09edb64beb093aa94ba0d393"
      "87955329"}},
    {SSH_CIPHER_AES192_CTR,
     SSH_MAC_SHA256,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"74cfd7d0bc64be233bc9e4ce18bfd29591cae5e9b8daadcf04a0099de39323c3c63239dba4d4"
      "92fdcd42cd9f41219721ac25fa6f9d195b59c9706935ddbb736e",
      "9ef57dfa587ec2b236569cfd512076f20440f59b9810a040da4d5bd087e65b797ff66e5538e3"
      "3d8a827ca84db6816cfea87fac81326db3391923bab3577d31158c92bda2913df42170f3e8b5"
      "244f51bcd08cadf16c49a22b1bb7b84e2075985b",
      "63c485e85277d89bd48bba658f893370cff9686f0999c5d03d2fe8d87372f0deb868900e6cd0"
      "7937f5d38376093b1cef"}},
    {SSH_CIPHER_AES192_CTR,
     SSH_MAC_SHA512,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"74cfd7d0bc64be233bc9e4ce18bfd29591cae5e9b8daadcf04a0099de39323c32c1923cd0021"
      "2ee7c4510342db1ad9eebc7470c86cc9702cc7a0431e90580f2578e7dae81ea1d4041fb0f6e8"
      "ffe1bc0550b5b3ee0879b0d8c0a82f8f9dea9101",
      "9ef57dfa587ec2b236569cfd512076f20440f59b9810a040da4d5bd087e65b797ff66e5538e3"
      "3d8a827ca84db6816cfea87fac81326db3391923bab3577d31154ecdf218deaad61fb1614521"
      "24bd6471fb029591b8c1a5ccf0a396f7ab31fa6f04243c3890497f3357bd930d681d4198a1b7"
      "db48e1d45bee1b04427facb355ca",
      "63c485e85277d89bd48bba658f8933704517922447f344ef901df433be5b327549c29704f14c"
      "81c88ed6f97eeb3bafee352fc034fba87efe66c1be088f85b18b09edb64beb093aa94ba0d393"
      "87955329"}},
    {SSH_CIPHER_AES256_CTR,
     SSH_MAC_SHA256,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"bfda8c0433f8cfd5d071ef7df5e0139d1882d047854e00bbc1119581f47630d0c63239dba4d4"
      "92fdcd42cd9f41219721ac25fa6f9d195b59c9706935ddbb736e",
      "1852e0634b854a3588f5cabcfe5f7540bb729127109646813a4120305c06af53dd79d9f6a6bf"
      "04dd101a87616aaad639d744f1708b34914211404adbc5749d1b8c92bda2913df42170f3e8b5"
      "244f51bcd08cadf16c49a22b1bb7b84e2075985b",
      "1c3c87e31f3ce8d88d188cd6bf719d6bcff9686f0999c5d03d2fe8d87372f0deb868900e6cd0"
      "7937f5d38376093b1cef"}},
    {SSH_CIPHER_AES256_CTR,
     SSH_MAC_SHA512,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"bfda8c0433f8cfd5d071ef7df5e0139d1882d047854e00bbc1119581f47630d02c1923cd0021"
      "2ee7c4510342db1ad9eebc7470c86cc9702cc7a0431e90580f2578e7dae81ea1d4041fb0f6e8"
      "ffe1bc0550b5b3ee0879b0d8c0a82f8f9dea9101",
      "1852e0634b854a3588f5cabcfe5f7540bb729127109646813a4120305c06af53dd79d9f6a6bf"
      "04dd101a87616aaad639d744f1708b34914211404adbc5749d1b4ecdf218deaad61fb1614521"
      "24bd6471fb029591b8c1a5ccf0a396f7ab31fa6f04243c3890497f3357bd930d681d4198a1b7"
      "db48e1d45bee1b04427facb355ca",
      "1c3c87e31f3ce8d88d188cd6bf719d6b4517922447f344ef901df433be5b327549c29704f14c"
      "81c88ed6f97eeb3bafee352fc034fba87efe66c1be088f85b18b09edb64beb093aa94ba0d393"
      "87955329"}},
    {SSH_CIPHER_AES128_CBC,
     SSH_MAC_SHA256_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"000000203a3e18d4e2455943cb467fc70e1497b25b85b3bc8076ef6003bbfc3c1e1088cddc"
      "40adfe2714499383652afa6dcbce400052703f186b318b6115b3c40410733f",
      "0000003093aef584e652e60b0651b880d0fc7ba55ac16952e42bad356817f03167432219dc"
      "8469207372ed3bd5412026f7e805167bb686a9fedfb5d2227bcf66240e9be96e687862c349a4"
      "9a180b4baefd659965",
      "000000103f5c94aae5642d1385971f08700f3a78a8d4a9dd0805c7d176d30dfb0799d50544"
      "888610e84911dc39ce548eb76d3f08"}},
    {SSH_CIPHER_AES256_CBC,
     SSH_MAC_SHA512_ETM,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"00000020c983454a86dac2388518e51f34552ede7dfd1fd576153deb6f10d781b63af38ef9"
      "89eb82e1967023b536b9b43fff74899ba463379cafd4e0ff7e32764b374775d41f61915bd0bd"
      "7b719348e66bdc6fa78a1f9d8b63189445f4cb40cfa55fa62b",
      "000000301fa5dda1019066ea58e493914502e47c006baa361e4669e67b8c6dba8ae3e57d72"
      "3a3f6770bfcf2f4086e1178a6a68afb8709380e42d1f0bf226f6113bcfe5073a35b6f0ce5803"
      "e8a42dd9b6cb133d0d9d28b50589cd8694dade6110e0f2aa93ee9e8898f380bf31993a7b3643"
      "2cbf4e",
      "00000010511a416d40fe0a48dd9eb11da04ddb1fec7818772a15d140deab8750ca5eb8ff21"
      "aa7e5c4e30ec2b3295a3bcc73660355da94733309e99fc10bdd1172b063d154c8b4381712bab"
      "4d8363dc17edc339e8"}},
    {SSH_CIPHER_3DES_CBC,
     SSH_MAC_SHA256_ETM,
     "ffffffffffffffff",
     8,
     32,
     {"00000018dce97fb45964306908fc30e25cd62541ffa5d8098ff8bd851fef191735240014aa"
      "827106499739d03a528282e8e19653f4c68543d7a22d8a",
      "00000030a4174a2ee838886fddb218ad3cb611961d6e328b163d781c3f2be9d899cc1ce05e"
      "a61d3302ea02c42b175d820389cac5d9bff4809474e6da9cac0dc773ee1871d76e5c4d62ad87"
      "09b8a7a1f07a24f9e2",
      "00000008ff00e3a223247d0935443706e2f4e66f57ca3f0b9193e677ea040fd22ab7738692"
      "e4f9a86718a702"}},
    {SSH_CIPHER_AES128_CTR,
     SSH_MAC_SHA1,
     "fffffffffffffffffffffffffffffffd",
     16,
     20,
     {"e334012c1090aae5a481a2499bfcaf01dcec3bfb93deb53409750b3c9d7d6e9c3571ed51ef"
      "27cb75f220faf455ab54d4799a3bb9",
      "ac24d54dd3891a75da3d931eaafb45fc9c7851b84a33be1efc82555086acad4da9236a1a18"
      "9adc779178b3bfbe569ec77109c313a0e1b08319341755c36db7b80bc4f217158d45d0d3b2b7"
      "ef5fe1df3cc7d2cd4f",
      "3f37e0e359d5469ebcc000509caf6e746a0fdd8901e23fde08a28d9fd5a63075b0ddf28e"}},
    {SSH_CIPHER_AES128_CBC,
     SSH_MAC_SHA1,
     "fffffffffffffffffffffffffffffffd",
     16,
     20,
     {"747b3a7b933ffdbd0c9c2cce9417cdda63eb18f9e06fcc24944dfd3fdd12efe93571ed51ef"
      "27cb75f220faf455ab54d4799a3bb9",
      "75667d9de2e01933cc80cee42bb4e1330be9b81c5b8c27c8fd8a89d99f6517c977fe06ecbc"
      "cae02228ee0f7b80285a8c919c50c0f9b472475aa59cee950e7f370bc4f217158d45d0d3b2b7"
      "ef5fe1df3cc7d2cd4f",
      "ba02a368d4fdc476b8c87a425db0f5f46a0fdd8901e23fde08a28d9fd5a63075b0ddf28e"}},
    {SSH_CIPHER_AES256_CBC,
     SSH_MAC_SHA256,
     "fffffffffffffffffffffffffffffffd",
     16,
     32,
     {"6c8e29ab3410b5dca30fdb57fe8dd7f78c9c95351b19a41961b319ba53203fcec63239dba4"
      "d492fdcd42cd9f41219721ac25fa6f9d195b59c9706935ddbb736e",
      "d6c896119a952c228a095e069d7cda089e4b4e19c924785e638e5f4d046611c8bebf760a73"
      "a99bbf59c882a86825b0c556ce29f5459e19ded5eaa2b452747dc28c92bda2913df42170f3e8"
      "b5244f51bcd08cadf16c49a22b1bb7b84e2075985b",
      "50c3b2ec3b429c52c355750805c10192cff9686f0999c5d03d2fe8d87372f0deb868900e6c"
      "d07937f5d38376093b1cef"}},
    {SSH_CIPHER_AES256_CBC,
     SSH_MAC_SHA512,
     "fffffffffffffffffffffffffffffffd",
     16,
     64,
     {"6c8e29ab3410b5dca30fdb57fe8dd7f78c9c95351b19a41961b319ba53203fce2c1923cd00"
      "212ee7c4510342db1ad9eebc7470c86cc9702cc7a0431e90580f2578e7dae81ea1d4041fb0f6"
      "e8ffe1bc0550b5b3ee0879b0d8c0a82f8f9dea9101",
      "d6c896119a952c228a095e069d7cda089e4b4e19c924785e638e5f4d046611c8bebf760a73"
      "a99bbf59c882a86825b0c556ce29f5459e19ded5eaa2b452747dc24ecdf218deaad61fb16145"
      "2124bd6471fb029591b8c1a5ccf0a396f7ab31fa6f04243c3890497f3357bd930d681d4198a1"
      "b7db48e1d45bee1b04427facb355ca",
      "50c3b2ec3b429c52c355750805c101924517922447f344ef901df433be5b327549c29704f1"
      "4c81c88ed6f97eeb3bafee352fc034fba87efe66c1be088f85b18b09edb64beb093aa94ba0d3"
      "9387955329"}},
    {SSH_CIPHER_3DES_CBC,
     SSH_MAC_SHA1,
     "ffffffffffffffff",
     8,
     20,
     {"b14f5a25c520895e21d32ecdbb7c59aa995a0d0db07b13887d9aec4518f7e6a0ce96919759"
      "4b3bdcb747cf23",
      "6146d115e9befb205e73c0cb74c683fc191d218bbb1a29a8c874f9ca45bfbe6a9dc2e1db92"
      "ff9d75225983a667a0d503f937c11386f757a786ac995a9cfd9e42fa48a1c12f43e559e877bf"
      "c8",
      "518817d6b7bddf4ea55980893dfa6ab86a0fdd8901e23fde08a28d9fd5a63075b0ddf28e"}},
};

/* Their payloads; the padding is all 0x55. */
static const char *const payloads[] = {
    "5e000000000000000568656c6c6f",
    "020910171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a",
    "15",
};

/* The length is encrypted with the packet, and the MAC is over it in clear. */
static bool is_mac_of_clear(const struct suite *s)
{
    return s->mac == SSH_MAC_SHA256 || s->mac == SSH_MAC_SHA512 || s->mac == SSH_MAC_SHA1;
}

static bool is_cbc(const struct suite *s)
{
    return s->cipher == SSH_CIPHER_AES128_CBC || s->cipher == SSH_CIPHER_AES256_CBC ||
           s->cipher == SSH_CIPHER_3DES_CBC;
}

/* The length counts among its blocks. */
static bool is_length_padded(const struct suite *s)
{
    return s->cipher == SSH_CIPHER_NONE || is_mac_of_clear(s);
}

/* The first four bytes of the iv are changed by this. */
static struct ssh_cipher *cipher_with(const struct suite *s, bool for_sealing, uint32_t change)
{
    uint8_t iv[64], key[SSH_KEY_MAX], mac[SSH_KEY_MAX];
    struct ssh_key_sizes sizes = ssh_key_sizes(s->cipher, s->mac);
    struct ssh_cipher *c = NULL;
    assert_int_equal(unhex(s->iv, iv), sizes.iv);
    if (change != 0)
        wire_set_u32(iv, wire_u32(iv) ^ change);
    assert_int_equal(ssh_cipher_new(s->cipher, s->mac, for_sealing, bytes_of(iv, sizes.iv),
                                    fill_pattern(key, 1, sizes.key),
                                    fill_pattern(mac, 200, sizes.mac), &c),
                     0);
    return c;
}

static struct ssh_cipher *cipher_of(const struct suite *s, bool for_sealing)
{
    return cipher_with(s, for_sealing, 0);
}

/* -- known answers -- */

static void packets_are_those_of_another_implementation(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        struct ssh_cipher *c = cipher_of(&suites[i], true);
        for (uint32_t n = 0; n < 3; n++) {
            uint8_t packet[256], wanted[256];
            size_t payload_len = unhex(payloads[n], packet + SSH_PACKET_HEAD), len;
            size_t wanted_len = unhex(suites[i].packets[n], wanted);
            memset(packet + SSH_PACKET_HEAD + payload_len, 0x55, 64);
            assert_int_equal(ssh_packet_seal(c, SEQUENCE + n, packet, payload_len, &len), 0);
            assert_int_equal(len, wanted_len);
            assert_memory_equal(packet, wanted, len);
        }
        ssh_cipher_free(c);
    }
}

static void packets_of_another_implementation_are_opened(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        struct ssh_cipher *c = cipher_of(&suites[i], false);
        for (uint32_t n = 0; n < 3; n++) {
            uint8_t packet[256], before[256], wanted[64];
            size_t packet_len = unhex(suites[i].packets[n], packet), len;
            size_t wanted_len = unhex(payloads[n], wanted);
            struct bytes payload;
            memcpy(before, packet, packet_len);
            for (int again = 0; again < 2; again++) /* asked for as often as bytes arrive */
                assert_int_equal(ssh_packet_length(c, SEQUENCE + n, packet, 35000, &len), 0);
            assert_int_equal(len, packet_len);
            assert_memory_equal(packet, before, len);
            assert_int_equal(ssh_packet_open(c, SEQUENCE + n, packet, len, &payload), 0);
            assert_int_equal(payload.len, wanted_len);
            assert_memory_equal(payload.data, wanted, wanted_len);
        }
        ssh_cipher_free(c);
    }
}

/* -- what is not as it was sealed -- */

#define ROOM (SSH_PACKET_MAX_EARLY + 128)

/* Whether the first packet of a suite is taken with these bytes, as far as zeros behind them
 * may do for what is still to come. No plaintext may be left if it is not. */
static bool is_taken(const struct suite *s, struct bytes first, uint32_t sequence)
{
    static uint8_t packet[ROOM];
    uint8_t plain[64];
    size_t plain_len = unhex(payloads[0], plain), len;
    struct ssh_cipher *c = cipher_of(s, false);
    struct bytes payload = BYTES_NONE;
    memset(packet, 0, sizeof(packet));
    memcpy(packet, first.data, first.len);
    bool taken = ssh_packet_length(c, sequence, packet, SSH_PACKET_MAX_EARLY, &len) == 0 &&
                 ssh_packet_open(c, sequence, packet, len, &payload) == 0;
    if (!taken && s->cipher != SSH_CIPHER_NONE) {
        assert_memory_not_equal(packet + SSH_PACKET_HEAD, plain, plain_len);
        assert_null(payload.data);
    }
    ssh_cipher_free(c);
    return taken;
}

static void no_bit_of_a_packet_may_change(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(suites); i++) {
        uint8_t packet[256];
        size_t len = unhex(suites[i].packets[0], packet);
        assert_true(is_taken(&suites[i], bytes_of(packet, len), SEQUENCE));
        for (size_t bit = 0; bit < len * 8; bit++) {
            packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_false(is_taken(&suites[i], bytes_of(packet, len), SEQUENCE));
            packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void no_packet_is_taken_cut_or_with_bytes_behind_it(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(suites); i++) {
        uint8_t packet[256];
        size_t whole = unhex(suites[i].packets[0], packet);
        for (size_t len = 0; len < whole + 33; len++) {
            struct ssh_cipher *c = cipher_of(&suites[i], false);
            struct bytes payload;
            uint8_t *copy = malloc(len + 1);
            memcpy(copy, packet, len);
            assert_int_equal(ssh_packet_open(c, SEQUENCE, copy, len, &payload),
                             len == whole ? 0 : -FERRY_EPROTO);
            free(copy);
            ssh_cipher_free(c);
        }
    }
}

static void a_packet_has_its_place(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(suites); i++) {
        uint8_t packet[256];
        struct bytes payload;
        size_t len = unhex(suites[i].packets[0], packet);
        struct ssh_cipher *c = cipher_of(&suites[i], false);
        assert_int_equal(ssh_packet_open(c, SEQUENCE, packet, len, &payload), 0);
        unhex(suites[i].packets[0], packet);
        assert_int_equal(ssh_packet_open(c, SEQUENCE + 1, packet, len, &payload),
                         -FERRY_EPROTO);
        ssh_cipher_free(c);
        /* the second one first */
        len = unhex(suites[i].packets[1], packet);
        c = cipher_of(&suites[i], false);
        assert_int_equal(ssh_packet_open(c, SEQUENCE, packet, len, &payload), -FERRY_EPROTO);
        ssh_cipher_free(c);
    }
}

static void sequence_numbers_count_where_no_nonce_does(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(suites); i++) {
        uint8_t packet[256];
        size_t len = unhex(suites[i].packets[0], packet);
        bool is_gcm = suites[i].cipher == SSH_CIPHER_AES128_GCM ||
                      suites[i].cipher == SSH_CIPHER_AES256_GCM;
        for (int bit = 0; bit < 32; bit++)
            assert_int_equal(
                is_taken(&suites[i], bytes_of(packet, len), SEQUENCE ^ (UINT32_C(1) << bit)),
                is_gcm);
    }
}

/* -- lengths -- */

#define HEAD_MAX 16

/* A beginning that reads as this length, at the place of the first packet. */
static void set_length(const struct suite *s, uint32_t length, uint8_t dst[HEAD_MAX])
{
    uint8_t packet[256];
    unhex(s->packets[0], packet);
    memcpy(dst, packet, HEAD_MAX);
    wire_set_u32(dst, length);
    /* what hid the right one hides others, too */
    if (s->cipher == SSH_CIPHER_CHACHA20)
        wire_set_u32(dst, length ^ 24 ^ wire_u32(packet));
    if (is_mac_of_clear(s))
        wire_set_u32(dst, is_cbc(s) ? wire_u32(packet) : length ^ 28 ^ wire_u32(packet));
}

/* Of a cipher that has seen nothing: what a wrong length left behind is of no use. */
static int length_at_first(const struct suite *s, uint32_t length, size_t max, size_t *ret_len)
{
    uint8_t head[HEAD_MAX];
    bool is_in_iv = is_cbc(s) && is_mac_of_clear(s); /* a chain has no other way */
    uint32_t right = s->block == 8 ? 20 : 28;
    struct ssh_cipher *c = cipher_with(s, false, is_in_iv ? length ^ right : 0);
    set_length(s, length, head);
    int rc = ssh_packet_length(c, SEQUENCE, head, max, ret_len);
    ssh_cipher_free(c);
    return rc;
}

static void lengths_have_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        const struct suite *s = &suites[i];
        uint32_t least = is_length_padded(s) ? 12 : (uint32_t)s->block;
        struct ssh_cipher *c = cipher_of(s, false);
        assert_int_equal(ssh_packet_head(c), is_mac_of_clear(s) ? s->block : 4);
        ssh_cipher_free(c);
        for (uint32_t length = 0; length < 600; length++) {
            size_t len = 0;
            bool is_right = length >= least && length <= 512 &&
                            (length + (is_length_padded(s) ? 4 : 0)) % s->block == 0;
            assert_int_equal(length_at_first(s, length, 512, &len),
                             is_right ? 0 : -FERRY_EPROTO);
            assert_int_equal(len, is_right ? 4 + length + s->tag : 0);
        }
        static const uint32_t far[] = {SSH_PACKET_MAX + 12, SSH_PACKET_MAX + 16, 0x7ffffff0,
                                       0x80000000,          0xfffffff0,          0xfffffffc,
                                       0xffffffff};
        for (size_t j = 0; j < ARRAY_LEN(far); j++) {
            size_t len;
            assert_int_equal(length_at_first(s, far[j], SIZE_MAX, &len), -FERRY_EPROTO);
        }
    }
}

/* With CBC an attacker could learn what is in any block from where its length leads. */
static void where_a_packet_fails_is_veiled_with_cbc_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        const struct suite *s = &suites[i];
        struct ssh_cipher *c = cipher_of(s, false);
        size_t wanted = is_cbc(s) && is_mac_of_clear(s) ? 4 + 35000 + s->tag : 0;
        assert_int_equal(ssh_packet_veil(c, 35000), wanted);
        ssh_cipher_free(c);
    }
}

static void what_is_discarded_is_wiped_and_read_no_further(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(suites); i++) {
        const struct suite *s = &suites[i];
        for (size_t n = 0; n < 2; n++) { /* the length is wrong, or the MAC */
            struct ssh_cipher *c = cipher_of(s, false);
            size_t whole = unhex(s->packets[0], (uint8_t[256]){0}), len;
            size_t veil = ssh_packet_veil(c, 600);
            uint8_t *packet = malloc(veil != 0 ? veil : whole);
            struct bytes payload;
            fill_pattern(packet, 9, veil != 0 ? veil : whole);
            unhex(s->packets[0], packet);
            packet[n == 0 ? 0 : whole - 1] ^= 0xff;
            int rc = ssh_packet_length(c, SEQUENCE, packet, 600, &len);
            if (rc == 0)
                rc = ssh_packet_open(c, SEQUENCE, packet, len < whole ? len : whole, &payload);
            assert_int_equal(rc, -FERRY_EPROTO);
            ssh_packet_discard(c, packet, veil);
            for (size_t at = 0; at < veil && at + s->tag + s->block <= veil; at++)
                assert_int_equal(packet[at], 0);
            free(packet);
            ssh_cipher_free(c);
        }
    }
}

/* Who reads in small pieces asks for the length again and again, or not at all. */
static void the_length_is_read_at_any_time_before_opening(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        struct ssh_cipher *c = cipher_of(&suites[i], false);
        for (uint32_t n = 0; n < 3; n++) {
            uint8_t packet[256], wanted[64], before[256];
            size_t packet_len = unhex(suites[i].packets[n], packet), len;
            size_t wanted_len = unhex(payloads[n], wanted);
            struct bytes payload;
            memcpy(before, packet, packet_len);
            for (uint32_t times = 0; times < n * 2; times++) {
                assert_int_equal(ssh_packet_length(c, SEQUENCE + n, packet, 35000, &len), 0);
                assert_int_equal(len, packet_len);
                assert_memory_equal(packet, before, packet_len);
            }
            assert_int_equal(ssh_packet_open(c, SEQUENCE + n, packet, packet_len, &payload), 0);
            assert_true(bytes_equal(payload, bytes_of(wanted, wanted_len)));
        }
        ssh_cipher_free(c);
    }
}

static void padding_has_bounds(void **state)
{
    (void)state;

    static const struct {
        const char *packet;
        int result;
    } rows[] = {
        {"0000000c0a0100000000000000000000", 0},
        {"0000000c050100000000000000000000", 0}, /* more payload, less padding */
        {"0000000c040100000000000000000000", 0},
        {"0000000c030100000000000000000000", -FERRY_EPROTO},
        {"0000000c000100000000000000000000", -FERRY_EPROTO},
        {"0000000c0b0100000000000000000000", -FERRY_EPROTO}, /* no payload */
        {"0000000c0c0100000000000000000000", -FERRY_EPROTO},
        {"0000000cff0100000000000000000000", -FERRY_EPROTO},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_cipher *c = cipher_of(&suites[0], false);
        uint8_t packet[64];
        size_t len = unhex(rows[i].packet, packet);
        struct bytes payload = BYTES_NONE;
        assert_int_equal(ssh_packet_open(c, 0, packet, len, &payload), rows[i].result);
        assert_int_equal(payload.len, rows[i].result == 0 ? (size_t)11 - packet[4] : 0);
        ssh_cipher_free(c);
    }
}

static void each_length_of_payload_comes_back(void **state)
{
    (void)state;
    static uint8_t packet[SSH_PACKET_HEAD + SSH_PAYLOAD_MAX + SSH_PACKET_TAIL_MAX];
    static uint8_t payload[SSH_PAYLOAD_MAX];
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        const struct suite *s = &suites[i];
        struct ssh_cipher *seal = cipher_of(s, true), *open = cipher_of(s, false);
        size_t counted = is_length_padded(s) ? 0 : 4, len, got_len;
        for (size_t n = 1; n <= SSH_PAYLOAD_MAX;
             n = n < 300 ? n + 1 : (n == SSH_PAYLOAD_MAX ? n + 1 : SSH_PAYLOAD_MAX)) {
            struct bytes got;
            size_t tail = ssh_packet_tail(seal, n);
            fill_pattern(payload, (uint8_t)n, n);
            memcpy(packet + SSH_PACKET_HEAD, payload, n);
            assert_int_equal(ssh_packet_seal(seal, (uint32_t)n, packet, n, &len), 0);
            assert_int_equal(len, SSH_PACKET_HEAD + n + tail);
            assert_in_range(tail - s->tag, 4, 4 + s->block - 1);
            assert_true(tail <= SSH_PACKET_TAIL_MAX);
            assert_int_equal((len - s->tag - counted) % s->block, 0);
            assert_int_equal(
                ssh_packet_length(open, (uint32_t)n, packet, SSH_PACKET_MAX, &got_len), 0);
            assert_int_equal(got_len, len);
            assert_int_equal(ssh_packet_open(open, (uint32_t)n, packet, len, &got), 0);
            assert_int_equal(got.len, n);
            assert_memory_equal(got.data, payload, n);
        }
        assert_int_equal(ssh_packet_seal(seal, 0, packet, 0, &len), -FERRY_ELIMIT);
        assert_int_equal(ssh_packet_seal(seal, 0, packet, SSH_PAYLOAD_MAX + 1, &len),
                         -FERRY_ELIMIT);
        ssh_cipher_free(seal);
        ssh_cipher_free(open);
    }
}

/* -- making -- */

static void keys_have_their_lengths(void **state)
{
    (void)state;
    static const uint8_t material[SSH_KEY_MAX + 1];
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        const struct suite *s = &suites[i];
        struct ssh_key_sizes z = ssh_key_sizes(s->cipher, s->mac);
        for (int what = 0; what < 6; what++) {
            size_t lens[] = {z.iv, z.key, z.mac};
            if (what % 2 == 1 && lens[what / 2] == 0)
                continue;
            lens[what / 2] += what % 2 == 0 ? 1 : (size_t)-1;
            struct ssh_cipher *c = NULL;
            assert_int_equal(
                ssh_cipher_new(s->cipher, s->mac, true, bytes_of(material, lens[0]),
                               bytes_of(material, lens[1]), bytes_of(material, lens[2]), &c),
                -EINVAL);
            assert_null(c);
        }
    }
    struct ssh_cipher *c = NULL;
    assert_int_equal(ssh_cipher_new(SSH_CIPHER_AES128_CTR, SSH_MAC_NONE, true,
                                    bytes_of(material, 16), bytes_of(material, 16), BYTES_NONE,
                                    &c),
                     -EINVAL);
    assert_null(ssh_cipher_free(NULL));
}

static void a_cipher_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        struct ssh_cipher *c = cipher_of(&suites[i], true);
        assert_int_equal(ssh_cipher_kind(c), suites[i].cipher);
        assert_true(ssh_cipher_bytes_max(c) == (suites[i].cipher == SSH_CIPHER_NONE ? UINT64_MAX
                                                : suites[i].block == 8 ? UINT64_C(1) << 30
                                                                       : UINT64_C(1) << 36));
        ssh_cipher_free(c);
    }
}

static void making_fails_without_memory_and_leaves_none(void **state)
{
    (void)state;
    static const uint8_t material[SSH_KEY_MAX];
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        struct ssh_key_sizes z = ssh_key_sizes(suites[i].cipher, suites[i].mac);
        int rc = -ENOMEM;
        for (uint64_t n = 1; rc != 0 && n < 20; n++) {
            struct ssh_cipher *c = NULL;
            fault_arm(FAULT_ALLOC, n);
            rc = ssh_cipher_new(suites[i].cipher, suites[i].mac, true, bytes_of(material, z.iv),
                                bytes_of(material, z.key), bytes_of(material, z.mac), &c);
            fault_arm(FAULT_ALLOC, 0);
            assert_true(rc == 0 ? n > 1 : rc == -ENOMEM && c == NULL);
            ssh_cipher_free(c);
        }
        assert_int_equal(rc, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_those_of_another_implementation),
        cmocka_unit_test(packets_of_another_implementation_are_opened),
        cmocka_unit_test(no_bit_of_a_packet_may_change),
        cmocka_unit_test(no_packet_is_taken_cut_or_with_bytes_behind_it),
        cmocka_unit_test(a_packet_has_its_place),
        cmocka_unit_test(sequence_numbers_count_where_no_nonce_does),
        cmocka_unit_test(lengths_have_bounds),
        cmocka_unit_test(where_a_packet_fails_is_veiled_with_cbc_alone),
        cmocka_unit_test(what_is_discarded_is_wiped_and_read_no_further),
        cmocka_unit_test(the_length_is_read_at_any_time_before_opening),
        cmocka_unit_test(padding_has_bounds),
        cmocka_unit_test(each_length_of_payload_comes_back),
        cmocka_unit_test(keys_have_their_lengths),
        cmocka_unit_test(a_cipher_says_what_it_is),
        cmocka_unit_test(making_fails_without_memory_and_leaves_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
