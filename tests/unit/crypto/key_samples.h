/* Keys in files as OpenSSL 3.0 writes them, and signatures as ssh-keygen makes them; made for
 * these tests and used nowhere else. The passphrase of what is encrypted is "sesame". */
#pragma once

/* So that whoever searches the tree for private keys finds those that should not be there. */
#define PEM(what, lines) "-----BEGIN " what "-----\n" lines "-----END " what "-----\n"

#define PEM_ED25519 /* PKCS#8 */                                                               \
    PEM("PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIEICtYR1KwX3MoGP6lszTY6WZ53TDcY6QNOy1L1LoKF4m0\n")
#define PEM_P256 /* PKCS#8 */                                                                  \
    PEM("PRIVATE KEY", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzTm9OH8wcr/zdfIq\n"    \
                       "x13gvk830mjfG+8Dv+MflByox5ihRANCAATqqGNZUjbHR3J8i6aUkusRAbXZTYhT\n"    \
                       "kI5tpp9N5gd0e4mvnzbjKvRti+adCkDApvNmuZUd6nmOdWtMes7FxcDW\n")
#define PEM_P256_SEC1 /* SEC1 */                                                               \
    PEM("EC PRIVATE KEY", "MHcCAQEEIM05vTh/MHK/83XyKsdd4L5PN9Jo3xvvA7/jH5QcqMeYoAoGCCqGSM49\n" \
                          "AwEHoUQDQgAE6qhjWVI2x0dyfIumlJLrEQG12U2IU5CObaafTeYHdHuJr5824yr0\n" \
                          "bYvmnQpAwKbzZrmVHep5jnVrTHrOxcXA1g==\n")
#define PEM_P256_COMPRESSED /* SEC1 */                                                         \
    PEM("EC PRIVATE KEY", "MFcCAQEEIM05vTh/MHK/83XyKsdd4L5PN9Jo3xvvA7/jH5QcqMeYoAoGCCqGSM49\n" \
                          "AwEHoSQDIgAC6qhjWVI2x0dyfIumlJLrEQG12U2IU5CObaafTeYHdHs=\n")
#define PEM_RSA /* PKCS#1 */                                                                   \
    PEM("RSA PRIVATE KEY",                                                                     \
        "MIIEpAIBAAKCAQEAzjhSCyxySuIAhRAvCncqYhZSwsDYac/aZwHeGIq3Hdnowguz\n"                   \
        "MmyprbmwG88msBfvfRSwVacv2fj/OAzY4XPXLDZvpumcZWCzSkjxjfkdyLjnkeqe\n"                   \
        "1RH0P3qU4484X06gF9LnqAhLGh/shVrcQPZ1iRNRRoDLW7YSeWBc7ithFqY3nhZt\n"                   \
        "WddM2ff7hT1gP3h9EUoGLTCrVKe4izrsFqGPjM9kFjx11BHsfi+Qdkkqu+qqgiu8\n"                   \
        "lSPPJj1SJxdU14CWbVTPLetgjtHXOKpV7N9hehWowTpiY/bnyku1mXAhekroEgRE\n"                   \
        "MqnskgpxIm3v6UJeUSKlYdNfv0d3GMKVnG4sZwIDAQABAoIBAC8bQW6I/CCr6Jd8\n"                   \
        "v2oiF33pgIU5XRYqo0a1cADmKvc4MEmnN4t0s/vZt2da1gkSpqPJZpBiTPV7Qf2R\n"                   \
        "PbeeaRAR7UZRBedIhBwbdoZKWingRxGXaSnd3I/llf43WJa41KwsgrtpDZLNqQ87\n"                   \
        "VqXGRsoFriKvSATOngC46PGE2jw8WWkidpuvG9AzCMxdfTPm2KIi4QBgxCfzZEN2\n"                   \
        "NEBaIOlPhbBaibTfv4P7BRXFq4CQknBpzqa7Bf1GWG99l1zTPJW/c9ucH9e+ame2\n"                   \
        "fLY62qyihxEEFvgbNcRzi+V5lFtAzwv4B4QY0GrW2rxCA3BW5PrgJwDO+6Nq3MWO\n"                   \
        "TFm1eTUCgYEA/c/ZRGfwukPF9CTccyEb+cDkXXdrKLsXs8ANrkMdZK+TA4lffSmZ\n"                   \
        "P3qAqF9vJOVqgxU8N2xkomtyXaCYLLnDFLoP8K2j3hVgadKl2nYYLE8qmm9cw8K/\n"                   \
        "mtGXNbCuvSopXh/84G0cky900ffShtYsZHLUcEY1OxhOp+cLXFx5OQsCgYEAz/9w\n"                   \
        "SSI7IASbKVbiDted2kLEmPb++9H1Yrg0WgGuOstOrKpxW6/KVOa0x4iqt/waVrmm\n"                   \
        "4rJ4NpmYa5JoF0YYY0DibfIkV/2vDeQiUKZQ27DGnsypBybnMByrkT1vv9Yvm3W+\n"                   \
        "G06Yyfzo9XGuIcTSFRiSjzXDq7HqhNFfFx4Vi5UCgYEAjmweh9Mncu3q25f/mB8B\n"                   \
        "GsGRo50KJZ3uq+/d/WYtzTz0auygB5TbKJKuNUzwCi0t+oZk9ti9E6LlVwJxwc8v\n"                   \
        "V6ccoLpfFJS8OEV6yb6wy9RUnLpWvIbAi7iGeBs/wmgxNF8QwEKZ4UGk9NlyajUu\n"                   \
        "TeNdr+7FmfaG1JLCfj5py4cCgYAh6iam5hv55oZeQTpu7R1h/00LHAsLiHqYdCyl\n"                   \
        "GG0OTSQw50HAj3NQUKXdex1LDqJEzdS2Vh9f17+Qmri6QsWrOWMyRi9C4axveWlW\n"                   \
        "+SdqCvL35asR7Xf40lPvRLM59nSgxpwO28vx83kQvE6GVw9iPTV4gG29Sy9QJMt6\n"                   \
        "e39L2QKBgQCVaz1gxXN46N0041UcNtMjelQa87GFaB2bROIHYP78bAZvyyQAnY1E\n"                   \
        "noy0ugTLQr08YpGPNuIuch65IcsurS0chYAuQCGMmFVtJpuPvQEwsab34go2g2OH\n"                   \
        "i/0HKp0Hwezft7LOz7m2JJm/0vBVDHx7+NiVmgLis3xI9vvJBkEGng==\n")
#define PEM_ED25519_ENCRYPTED /* PKCS#8, AES-256-CBC */                                        \
    PEM("ENCRYPTED PRIVATE KEY",                                                               \
        "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAixLq6gi+q0JgICCAAw\n"                   \
        "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEOC0JPFPB/zqk/RJVZl1Q6wEQPrz\n"                   \
        "3hOEkQTFmH1YwwI59IHl40pzBU6RDWhtkXv+o3stJ79vVMs7RrQBV64jojbk1GAk\n"                   \
        "IjpkNNmhynBqGA4fIoI=\n")
#define PEM_P256_ENCRYPTED /* SEC1, AES-128-CBC */                                             \
    PEM("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n"                                           \
                          "DEK-Info: AES-128-CBC,E71089743D2D9B5894E9F7A44070AA94\n"           \
                          "\n"                                                                 \
                          "WO41e9kUjCwx8yh29gEfidBvoQkBV+1KS3fXCqvkqYOCBY/GoOUpzcKnjS7u3GXS\n" \
                          "oPD1aAeP5KzGCVO14Mq+W8alpGnbuFIdCqwvsOEwdNdof6ur3yoOyDBbYZnSx7yQ\n" \
                          "qrfvkVsCunvCtFmdGAwJzzBCoqaSSPxXHMDY+N9dWGc=\n")
#define PEM_P384 /* another curve */                                                           \
    PEM("PRIVATE KEY", "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCAiJlMJKdH4o/etWYZ\n"    \
                       "NbaWv1/7PItWZsj4+gihTuRyOxVIeCAs1eb0gr0hlETtdaWhZANiAAQhe4QGCAzC\n"    \
                       "Ux1wgN0QnPr9JfqFnr9fVOYq7dsBMvMYZ401z1jEpPYWuPf+LgkVaAJR4VyNyOqm\n"    \
                       "rwJ9e5B1QddHS15fg7Z+EERcB6TqKRstS63WSO/FVIL3ujkMcqIHfYk=\n")
#define PEM_X25519 /* does not sign */                                                         \
    PEM("PRIVATE KEY", "MC4CAQAwBQYDK2VuBCIEIADI00/E4swFp7+J6Pg6JDnB/y0A4k1/qOHFXKlqXvpY\n")
#define PEM_RSA1024 /* too short */                                                            \
    PEM("RSA PRIVATE KEY",                                                                     \
        "MIICXQIBAAKBgQCoGiEXCGOGGu0zpMoh/BydR0P4PPwzqRtIyvQvnB2ZMyf1fc8j\n"                   \
        "zenTIDJAloDKko31DCB8LKs9QGy5rVZp888ceUYYZBT25Buz7XWM+y2b2W4ufZ9x\n"                   \
        "LkwkYj6tvuX/D14SWwjJZqKtQxZQFIiPjumBVvwfJk/IBNx9C+7XUM2tywIDAQAB\n"                   \
        "AoGBAKF/8PiC67LkXa03DadW4lrMI+XzGU28kuT9b1nqP5l2x1YYF5DLfHCExyK8\n"                   \
        "NWHpKQ8bJn6GH8IKCirc+F90iC3BCQx6RiclMWzQASYSK3iNqCH1ARXTZJYu+JgI\n"                   \
        "ov+iU360X9QGrm2a7YNWBSmRFVYoNlOzDdYNnH/LYkwK8chpAkEA10G2Ms6OSzu4\n"                   \
        "rfgdPOvVedi1m1Z1xDCFwf4bwu2pfG7mMo5UXOil1VrAvo0TdKHsO5mCHNUOm2Gj\n"                   \
        "VEFZ0nm65QJBAMfriO5NqRB5ewdbSnplK2TKG0lskT6JRzQHDNu4KEZQ+RltqQSo\n"                   \
        "o1mBIdPNlSnq2deuqXkW9ZbcaeXsMlB6Su8CQENkOUyyym3XZrxgn5bBJvac2E6n\n"                   \
        "xPsFTfssOTjP+24PslZFpTfpRnIDlbCSrnKndzQ5nTi1o3sWGHJ6e0qf/dkCQQCe\n"                   \
        "WqPI1rzurrrTte0Fi/NWT3xTqWpW1ZgPzvHRbEqCgAr/qEvzw7w33kA0K6hWXo8U\n"                   \
        "92WH47a+O3KqS3ADLQsDAkBr9HQCR1SuXZ2OBHa+sZF7eeMr8LSpPEzOioQv2WnG\n"                   \
        "wMtd6uGIdhbcmBj/OZWN8doMiPxUEHbGAcgO7JOiLAp1\n")
#define PEM_PUBLIC /* no secret */                                                             \
    PEM("PUBLIC KEY", "MCowBQYDK2VwAyEASFSrnlgBq7PfJ1cMu/wwWOK1zrLvvldEj1QPAJfpmuU=\n")
#define ED25519_POINT "4854ab9e5801abb3df27570cbbfc3058e2b5ceb2efbe57448f540f0097e99ae5"
#define ED25519_SEED  "2b584752b05f732818fea5b334d8e96679dd30dc63a40d3b2d4bd4ba0a1789b4"
#define P256_POINT                                                                             \
    "04eaa863595236c747727c8ba69492eb1101b5d94d8853908e6da69f4de60774"                         \
    "7b89af9f36e32af46d8be69d0a40c0a6f366b9951dea798e756b4c7acec5c5c0"                         \
    "d6"
#define P256_SCALAR "cd39bd387f3072bff375f22ac75de0be4f37d268df1bef03bfe31f941ca8c798"
#define RSA_N                                                                                  \
    "ce38520b2c724ae20085102f0a772a621652c2c0d869cfda6701de188ab71dd9"                         \
    "e8c20bb3326ca9adb9b01bcf26b017ef7d14b055a72fd9f8ff380cd8e173d72c"                         \
    "366fa6e99c6560b34a48f18df91dc8b8e791ea9ed511f43f7a94e38f385f4ea0"                         \
    "17d2e7a8084b1a1fec855adc40f6758913514680cb5bb61279605cee2b6116a6"                         \
    "379e166d59d74cd9f7fb853d603f787d114a062d30ab54a7b88b3aec16a18f8c"                         \
    "cf64163c75d411ec7e2f9076492abbeaaa822bbc9523cf263d52271754d78096"                         \
    "6d54cf2deb608ed1d738aa55ecdf617a15a8c13a6263f6e7ca4bb59970217a4a"                         \
    "e812044432a9ec920a71226defe9425e5122a561d35fbf477718c2959c6e2c67"
#define RSA_D                                                                                  \
    "2f1b416e88fc20abe8977cbf6a22177de98085395d162aa346b57000e62af738"                         \
    "3049a7378b74b3fbd9b7675ad60912a6a3c96690624cf57b41fd913db79e6910"                         \
    "11ed465105e748841c1b76864a5a29e04711976929dddc8fe595fe375896b8d4"                         \
    "ac2c82bb690d92cda90f3b56a5c646ca05ae22af4804ce9e00b8e8f184da3c3c"                         \
    "596922769baf1bd03308cc5d7d33e6d8a222e10060c427f364437634405a20e9"                         \
    "4f85b05a89b4dfbf83fb0515c5ab8090927069cea6bb05fd46586f7d975cd33c"                         \
    "95bf73db9c1fd7be6a67b67cb63adaaca287110416f81b35c4738be579945b40"                         \
    "cf0bf8078418d06ad6dabc42037056e4fae02700cefba36adcc58e4c59b57935"
#define RSA_P                                                                                  \
    "fdcfd94467f0ba43c5f424dc73211bf9c0e45d776b28bb17b3c00dae431d64af"                         \
    "9303895f7d29993f7a80a85f6f24e56a83153c376c64a26b725da0982cb9c314"                         \
    "ba0ff0ada3de156069d2a5da76182c4f2a9a6f5cc3c2bf9ad19735b0aebd2a29"                         \
    "5e1ffce06d1c932f74d1f7d286d62c6472d47046353b184ea7e70b5c5c79390b"
#define RSA_Q                                                                                  \
    "cfff7049223b20049b2956e20ed79dda42c498f6fefbd1f562b8345a01ae3acb"                         \
    "4eacaa715bafca54e6b4c788aab7fc1a56b9a6e2b2783699986b926817461863"                         \
    "40e26df22457fdaf0de42250a650dbb0c69ecca90726e7301cab913d6fbfd62f"                         \
    "9b75be1b4e98c9fce8f571ae21c4d21518928f35c3abb1ea84d15f171e158b95"
#define RSA_IQMP                                                                               \
    "956b3d60c57378e8dd34e3551c36d3237a541af3b185681d9b44e20760fefc6c"                         \
    "066fcb24009d8d449e8cb4ba04cb42bd3c62918f36e22e721eb921cb2ead2d1c"                         \
    "85802e40218c98556d269b8fbd0130b1a6f7e20a368363878bfd072a9d07c1ec"                         \
    "dfb7b2cecfb9b62499bfd2f0550c7c7bf8d8959a02e2b37c48f6fbc90641069e"
/* d + p - 1 and d + q - 1: they undo e modulo one of the factors. */
#define RSA_D_OF_P_ALONE                                                                       \
    "2f1b416e88fc20abe8977cbf6a22177de98085395d162aa346b57000e62af738"                         \
    "3049a7378b74b3fbd9b7675ad60912a6a3c96690624cf57b41fd913db79e6910"                         \
    "11ed465105e748841c1b76864a5a29e04711976929dddc8fe595fe375896b8d4"                         \
    "ac2c82bb690d92cda90f3b56a5c646ca05ae22af4804ce9e00b8e8f184da3c3d"                         \
    "5738fbbb039fd613f8fcf139f05502d263073e77cbece30b180383e283778598"                         \
    "e28939ba06de78fefe7bad7534d065fb1585a606131fa868b8b61015c4169651"                         \
    "4fcf64893ffded1ed43a5c572c5306fbcd218060dabadad0960ac1962851856a"                         \
    "2d2bf4e7f135639a4bacb4148a4683496db497470436bbb984ac99a8b62eb23f"
#define RSA_D_OF_Q_ALONE                                                                       \
    "2f1b416e88fc20abe8977cbf6a22177de98085395d162aa346b57000e62af738"                         \
    "3049a7378b74b3fbd9b7675ad60912a6a3c96690624cf57b41fd913db79e6910"                         \
    "11ed465105e748841c1b76864a5a29e04711976929dddc8fe595fe375896b8d4"                         \
    "ac2c82bb690d92cda90f3b56a5c646ca05ae22af4804ce9e00b8e8f184da3c3d"                         \
    "296892bfbdea3bd4ce32233f8c0b84b2e4e779f75fbff9e8c6fbaa8e42085bb4"                         \
    "9e325acbe564aa146aafcc9e70637caae92a10b159333c96dec401e5aea2eb9f"                         \
    "d6a1e1cdc077d56d784bd8cd5c8bb65d6925ddad1e1f0265e11f1d22e9543170"                         \
    "6a81b622d2b19a67bfd02df0253528fa1372b63692a755556196ed6377cb04c9"
/* RFC 8017 8.2 over "ferry", computed with plain numbers. */
#define RSA_SHA256_FERRY                                                                       \
    "632ad26ca4888efcdc130ba2d8ae74040805e57bbce04829d4aa9d63c1776560"                         \
    "58b9aa897c40a33849eefb9e54f8a077dccf765ef8f2674768280c628eaf0af7"                         \
    "3ce929143cf3bb0bb9360fff9a312200b81b3606819be75886d3a07df41852da"                         \
    "54634431d4a3978507333891b1d2064e216051dae004218351102933ecb370cf"                         \
    "500f4f818089a26dd9721b1876ec85dd801d1ec2762f5090bb81e07f74c31ade"                         \
    "2472029d52015d5d7aa2eeacaa845a1e136cdefecd4394b0ceab16eedd4b7401"                         \
    "3b32e194e1d74e67e123fdb0081366547ac1d2f1d7190747976889cfdf39de07"                         \
    "f8c00fae9d347759f8e9b45bda32ee48d81317bef4491cbd0d43ec579a6ebd71"
#define RSA_SHA512_FERRY                                                                       \
    "a49efbf5b5d50fceb2a435e9e6fde6a64e8ad9a0517f1acd14bf395ba06c0714"                         \
    "64a0223ab914475bda9ff94fc05ed521d86e4d4bd493e7c5bdf6b173ba679b19"                         \
    "9ef1e68bc8ecafab4dc85d03c3fb0d10a67c8b39fe8d69d580d4cb009d3b5051"                         \
    "93e31bf35a64968c2c69531b25848bcc28494050268c80a6d795ff2e55587c7f"                         \
    "d836e38c13463182584ebd17ae3c0984e1cd0e3870ba310437f68b055b8fbd85"                         \
    "911d44827b151ddc760ad4951e6d77e1c352b7d097c072ffe598470a897bd74b"                         \
    "3e04e65cb5c3b646d891f2cc23d82b800b8a8e89ef962474afcf25b09cc73aca"                         \
    "bbcab469b3bee3d68ba1ab6f2055ae5a0f25bc9ed0c2687705d7013cfcf08694"
#define RSA_SHA1_FERRY                                                                         \
    "bce33a7874d115c4459c291fd9a96c67f361c2b8c30e09bdcb30cc324cbf4460"                         \
    "8aefc95737e283076523d9f52a0599661bc592cde1ca809a82a24aae474ed28a"                         \
    "ea24113d2b76a84e9b16d4371826458393e24ec11d1b4d9dddfd43dc8cb0057c"                         \
    "5406986aa501adbd790f04240c5ce5d76f84dcdc3aa809391e02612d4565ecad"                         \
    "f1dda8f508b4d2706528aa0e92657bbe251ac4cc04fb004a0f86b211bd760c40"                         \
    "67f5497c997188bde6cd674616a6880399de1b4fda563404e3a232058520350c"                         \
    "13fdd931cbdacd65bc1be7ddee1ac64797a3cdea43fe00a1a98a2ce19d1595e1"                         \
    "bfdab8f474ed34e43098390eca594a634ddecdfb7585ee17b672d7d9d3bfb327"
#define RSA_SHORT_TEXT "ferry 335" /* its signature begins with a zero */
#define RSA_SHORT_SIGNATURE                                                                    \
    "0fc2aa52497166026af7d146bc9b8fad376dbe00a0c77f3ca71a1dd9e99ef110"                         \
    "e425d6d7c2bebb8b14d6f277d6752a3fb97b80d67a6907cf1ca66cbc8a8a4e8f"                         \
    "d23d48ceea2225cbb95df651ba29e8f45cbc0fd5cb686e8bd2b3356551726446"                         \
    "f574504f26449ef435b16d810236c713f8781157ec99479da4e722312224cc7f"                         \
    "618123c8a7777654e55292272e46988a45646326448e54be37b6438468590fe3"                         \
    "27f709ce101e4566f81a55c3ee820b668e537b98798fde3d6f0af222311fa8e5"                         \
    "ca11fc8acc4ddc9956beba5adf4bb707137d311c4c493da26996425eb7583c6d"                         \
    "a5e5220e3a9279e085dbc07722f1655e156a357b522023631ec5cd7806f235"
/* ssh-keygen -Y sign -n file, over the file "ferry": what it signed (PROTOCOL.sshsig), the key
 * and the signature. */
#define SSHSIG_SIGNED                                                                          \
    "5353485349470000000466696c65000000000000000673686135313200000040"                         \
    "84ea1980819a603b611e9ccc6d38e8c753f7fb60e84f3687a75d128ab8dc92b3"                         \
    "a910684c7371bc36fbde915095e2a7ae3a80bccf22d7e12b4fd78db0b0764f3f"
#define SSHSIG_ED25519_POINT "5b1a1ec03844a0c5d4e1971acd1dfdf8f1569f996c78346d26e0a37a59f70be7"
#define SSHSIG_ED25519_SIGNATURE                                                               \
    "688fb12ee7956a6b8c7550ed108ab2c2ced1fb23a1b498505771a869c6189029"                         \
    "4a8789dc28ec9d24dcade624a8da4427b3291ddc4c31c13f9d88d0fc8f4e330c"
#define SSHSIG_P256_POINT                                                                      \
    "043dcadf66feb0992f6b4dc58d3a56dffa4a853dd8070cee241832483f476b83"                         \
    "21c3e08e61b7ab58f841f829d9c7bb83d7ae1e5b5af295e09a32b65c5439651e"                         \
    "4d"
#define SSHSIG_P256_SIGNATURE                                                                  \
    "d59c768732345542789b39dc75cdfae5b8e8a1c7bca7b890bcdc900e9e502ee6"                         \
    "3db93071cff10faeb23fb99b0b816a982c0cd66f09c70de4c7358fba40b93c46"
#define SSHSIG_RSA_N                                                                           \
    "00d48c6fa7fe6db805de2992258169d6447edb09912a0439be69464da9f00404"                         \
    "5d4126cf6db64a3d82ceba803156ebbf765793baeb0b8a4f055b450a4e573c73"                         \
    "4a533c0e379c7d9f54f105aa5ddd0166dba9826079c6649556992605886180c8"                         \
    "8806d720d827dfe0f2a15d3baa292e2fe0066eae9813f9e196dc996acb6f828a"                         \
    "1a6531419ad95ab986b741c34174088fb52d054b35216df6f4df688fd521641b"                         \
    "9f30ad458f5026e0ab56e1707fa1437e545823b69726179019b78e23bee612d7"                         \
    "f7269821d6a864e23a446c757dc1c9aa526f238fa6d7931140a817a5828389c5"                         \
    "5783d1f6a761ce32c530da193567102f0ddf8476c99559c4601e1dcd12756956"                         \
    "9f"
#define SSHSIG_RSA_SIGNATURE                                                                   \
    "86f4015cf54fc047a45e8787d003ebc1fae7735f30636b1b5319f31ade5b6ca6"                         \
    "ebfbbee4fcb98bb1ff3cbddff536155667757d09e66d8219c8bf1572c37b10a9"                         \
    "dc352c55cfb4d920e5b880f41e6a61cd94917e34aabef246c95e5c28e7f05ccc"                         \
    "29d50fa31e837bde13a69370caecbd54a108ff71d08ad6be864fa5c643c275fe"                         \
    "5bf0063de68bb8824d6e3c926faf1013375d1b0c3c62bed7f55fb0c43934c444"                         \
    "a5d576a31d84459a2566a09c956f267ff8188ddab14b2f19290906632e981389"                         \
    "651801051386324daf6d62ffd93d6b5c26739b78a7a3c6cc4f819088226e4f91"                         \
    "75bd00066ef3e36549e729fd5060f4bc9b99a96b569732856dbd018dfe239a7b"
