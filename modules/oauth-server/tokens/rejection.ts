/** Errors of sessions and users, as the token endpoint reports them. */
import { ApiError, HookError, refusedGrant } from '../../../schemas/errors.ts'

/** The user was banned, deleted or deactivated since the approval. */
const accountCodes = ['user_banned', 'user_deactivated', 'user_not_found']

/** Rethrows every error of the grant or its user as invalid_grant (RFC 6749 §5.2), with the code that GoTrue has for it. */
export function rejectGrant(error: unknown): never {
  if (!(error instanceof ApiError) || error instanceof HookError) throw error
  throw error.status === 400 || accountCodes.includes(error.errorCode) ? refusedGrant(error) : error
}
