/** The audit log: stores, logs and counts the actions of users and admins. */

export type { AuditAction } from './actions.ts'
export {
  changedFields,
  changedKeyFields,
  changedUserFields,
  deletedUserDetails,
} from './difference.ts'
export {
  type Actor,
  type AuditContext,
  adminActor,
  createAuditEntry,
  memberTraits,
  recordAudit,
} from './entry.ts'
export { findAdminUser, recordAdminAction, recordAdminActionOnUser } from './record-admin.ts'
