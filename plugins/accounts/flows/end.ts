/** The end of a person's flows, with that of their sessions. */
import type { Trx } from '../../../db/database.ts'
import { deleteAnsweredFlowStates, deleteFlowStates } from '../../../db/flow-states.ts'

/** Whatever is under way for the person, codes that were issued and not exchanged included. */
export const deleteOf = (trx: Trx, userId: string): Promise<void> => deleteFlowStates(trx, userId)

/**
 * The same but for flows whose link was not opened yet: one of them may be the flow of the very link that proves the
 * address now, and without the link they are worth nothing.
 */
export const deleteAnsweredOf = (trx: Trx, userId: string): Promise<void> =>
  deleteAnsweredFlowStates(trx, userId)
