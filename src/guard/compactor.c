/* compactor.c - Invariant: two rounds of signals are at least LC_COMPACTOR_PAUSE_MS apart. */
#include "guard/compactor.h"

void lc_compactor_tick(lc_compactor *compactor, lc_gate *gate, lc_usage *usage, int64_t need_bytes,
                       bool is_falling)
{
    lc_usage_row holders[LC_COMPACTOR_HOLDERS];
    int64_t now_ms = gate->now_ms;
    size_t count = 0;

    if (gate->level < LOCI_LEVEL_HIGH || need_bytes <= 0 || is_falling)
        return;
    if (compactor->has_sent && now_ms >= compactor->sent_ms &&
        now_ms - compactor->sent_ms < LC_COMPACTOR_PAUSE_MS)
        return;
    compactor->has_sent = true;
    compactor->sent_ms = now_ms;
    if (gate->level == LOCI_LEVEL_HIGH)
        count = lc_usage_largest(usage, LOCI_MEM_LLM_BUFFERS, holders, LC_COMPACTOR_HOLDERS);
    for (size_t i = 0; i < count; i++)
        lc_gate_signal(gate, NULL, LOCI_SIGNAL_COMPACT_CONTEXTS, holders[i].name, holders[i].bytes);
    if (count == 0)
        lc_gate_signal(gate, NULL, LOCI_SIGNAL_COMPACT_CONTEXTS, NULL, need_bytes);
}
