/** The user or token that makes a request about an organization. */
import type { Trx } from '../../db/core/database.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { AccessTokenClaims } from '../../schemas/access-token.ts'
import { adminActor, findAdminUser } from '../audit/index.ts'
import type { ChangedBy } from './record.ts'

interface Request {
  admin: AccessTokenClaims | null
  auth: { user: UserRecord } | null
  clientIp: string
  sendingNetwork: string
}

/** A token of an admin without a user is recorded under its role. */
export async function changedBy(
  trx: Trx,
  { admin, auth, clientIp: ip, sendingNetwork: network }: Request,
): Promise<ChangedBy> {
  if (!admin) return { actor: auth?.user ?? adminActor(''), ip, member: { network } }
  return { actor: (await findAdminUser(trx, admin)) ?? adminActor(admin.role ?? ''), ip }
}
