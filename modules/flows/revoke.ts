/** Deletes a user's flows when their sessions are revoked. */
import type { Trx } from '../../db/core/database.ts'
import { deleteFlowStates, deleteIssuedFlowStates } from '../../db/flows/flow-states.ts'

/** All flows of the user, issued codes included. */
export const deleteFlowStatesOfUser = (trx: Trx, userId: string): Promise<void> =>
  deleteFlowStates(trx, userId)

/**
 * The same, except flows whose link was not opened: one may be the flow of the link that is being verified, and without
 * the link they are useless.
 */
export const deleteIssuedFlowStatesOfUser = (trx: Trx, userId: string): Promise<void> =>
  deleteIssuedFlowStates(trx, userId)
