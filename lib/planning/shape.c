#include "base/array.h"
#include "base/exact.h"
#include "planning/shape.h"

#define LLAMA "Touvron et al. 2023, LLaMA, table 2"
#define LLAMA2 "Touvron et al. 2023, Llama 2, table 1 and appendix A.2"
#define LLAMA3 "Llama team 2024, The Llama 3 herd of models, table 3"
#define OPT "Zhang et al. 2022, OPT, table 1"
#define MEGATRON \
    "Korthikanti et al. 2022, Reducing activation recomputation, table 3"

static const shape_t shapes[] = {
    {"OPT 125M", "125000000", 12, 768, 12, 12, OPT},
    {"OPT 1.3B", "1300000000", 24, 2048, 32, 32, OPT},
    {"OPT 2.7B", "2700000000", 32, 2560, 32, 32, OPT},
    {"LLaMA 7B", "6700000000", 32, 4096, 32, 32, LLAMA},
    {"Llama 3 8B", "8000000000", 32, 4096, 32, 8, LLAMA3},
    {"LLaMA 13B", "13000000000", 40, 5120, 40, 40, LLAMA},
    {"Megatron 22B", "22000000000", 48, 6144, 64, 64, MEGATRON},
    {"LLaMA 33B", "32500000000", 60, 6656, 52, 52, LLAMA},
    {"Llama 2 70B", "70000000000", 80, 8192, 64, 8, LLAMA2},
    {"GPT-3 175B", "175000000000", 96, 12288, 96, 96, MEGATRON},
    {"Llama 3 405B", "405000000000", 126, 16384, 128, 8, LLAMA3},
    {"MT-NLG 530B", "530000000000", 105, 20480, 128, 128, MEGATRON},
    {"Megatron 1T", "1000000000000", 128, 25600, 160, 160, MEGATRON},
};

/* The larger by the smaller. */
static void distance (mpq_t ret_ratio, const shape_t *shape,
                      mpq_srcptr parameters)
{
    exact_parse (shape->parameters, ret_ratio, NULL);
    mpq_div (ret_ratio, ret_ratio, parameters);
    if (mpq_cmp_ui (ret_ratio, 1, 1) < 0)
        mpq_inv (ret_ratio, ret_ratio);
}

const shape_t *shape_nearest (mpq_srcptr parameters)
{
    const shape_t *nearest = NULL;
    mpq_t least, ratio;

    mpq_inits (least, ratio, NULL);
    for (size_t i = 0; i < GL_ARRAY_SIZE (shapes); i++) {
        distance (ratio, &shapes[i], parameters);
        if (nearest && mpq_cmp (ratio, least) >= 0)
            continue;
        nearest = &shapes[i];
        mpq_set (least, ratio);
    }
    mpq_clears (least, ratio, NULL);
    return nearest;
}
