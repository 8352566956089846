/** The user or token that makes a request about an organization. */
import type { Trx } from '../../db/core/database.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import { type AccessTokenClaims, subjectUserId } from '../../schemas/access-token.ts'
import { adminActor } from '../audit/index.ts'
import type { ChangedBy } from './record.ts'

interface Request {
  admin: AccessTokenClaims | null
  auth: { user: UserRecord } | null
  clientIp: string
}

/** A token of an admin without a user is recorded under its role. */
export async function changedBy(
  trx: Trx,
  { admin, auth, clientIp: ip }: Request,
): Promise<ChangedBy> {
  if (!admin) return { actor: auth?.user ?? adminActor(''), ip }
  const id = subjectUserId(admin)
  const user = id ? await findUser(trx, id) : undefined
  return { actor: user ?? adminActor(admin.role ?? ''), ip }
}
