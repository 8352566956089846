/** One-time links that make the user who opens them an admin. Links without an address are for the first admin only. */
import { createHash, randomBytes } from 'node:crypto'

import { hasAdmins, type ListedAdmin } from '../../db/admins/admins.ts'
import {
  type AdminLink,
  consumeAdminLink,
  findAdminLink,
  insertAdminLink,
  lockFirstAdmin,
} from '../../db/admins/links.ts'
import type { Db, Trx } from '../../db/core/database.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { firstAdminLinkInvalid } from '../../schemas/errors.ts'
import { addAdmin } from './manage.ts'

const lifetimeMs = 24 * 3_600_000

/** Creates a link. The token is in the fragment, which browsers do not send to servers. */
export async function createAdminLink(
  { config, db }: Deps<'config' | 'db'>,
  link: AdminLink,
  now: Date,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await insertAdminLink(db, {
    ...link,
    token_hash: hashToken(token),
    created_at: now,
    expires_at: new Date(now.getTime() + lifetimeMs),
  })
  return `${config.AUTH_API_EXTERNAL_URL}/console#first-admin=${token}`
}

/** Returns the purpose of a link. Throws first_admin_link_invalid. */
export async function findLink(db: Db, token: string, now: Date): Promise<AdminLink> {
  const link = await findAdminLink(db, hashToken(token), now)
  if (!link || (link.email === null && (await hasAdmins(db)))) throw firstAdminLinkInvalid()
  return link
}

/** Makes the user an admin and consumes the link. Throws first_admin_link_invalid and admin_exists. */
export async function redeemLink(
  trx: Trx,
  token: string,
  user: { id: string; email: string | null },
  now: Date,
): Promise<ListedAdmin> {
  await lockFirstAdmin(trx)
  const link = await consumeAdminLink(trx, hashToken(token), now)
  if (!link) throw firstAdminLinkInvalid()
  const isForUser = link.email === null ? !(await hasAdmins(trx)) : link.email === user.email
  if (!isForUser) throw firstAdminLinkInvalid()
  return addAdmin(trx, user.id, link.role, now)
}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')
