/*
 * focus_contract.h: the dataset Contract Commitment of FOCUS 1.3: the
 * entitlements of teams in a month (ledger/bill.h), each a contract of that
 * month with one commitment. The charges that consume it name it in
 * ContractApplied. Pure.
 */
#ifndef GL_RENDER_FOCUS_CONTRACT_H
#define GL_RENDER_FOCUS_CONTRACT_H

#include "render/focus.h"

void focus_render_contract_header (buffer_t *out);
/* One of the month of `focus`; of another month, nothing. */
void focus_render_contract (focus_t *focus,
                            const bill_entitlement_t *entitlement,
                            buffer_t *out);

#endif /* !GL_RENDER_FOCUS_CONTRACT_H */
