/*
 * analysis_kinds.h: the kinds of `analyses`, in the order of their rows in the table of
 * formulas (planning/formula.c). Whoever includes this defines KIND (ID, "word"). No
 * guard: this is a table, not a header.
 */
KIND (OVERHEAD, "overhead")
KIND (INTERRUPTIBLE, "interruptible")
KIND (EGRESS, "egress")
KIND (SCALING, "scaling")
KIND (NEWER_GPU, "newer-gpu")
KIND (MEMORY, "memory")
KIND (RUN, "run")
KIND (CASH, "cash")
KIND (CAPACITY, "capacity")
KIND (LAYERS, "layers")
KIND (BILL, "bill")
KIND (GENERATION, "generation")
