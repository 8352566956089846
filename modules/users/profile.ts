/** Changes of the current user. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { UserMetadata } from '../../db/tables/users.ts'
import { editUser } from '../../db/users/merge-user.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import { isImpersonated } from '../../schemas/access-token.ts'
import {
  emailNotConfirmed,
  metadataTooLarge,
  notAdmin,
  sessionImpersonated,
  ssoManaged,
  validationFailed,
} from '../../schemas/errors.ts'
import { metadataLimits } from '../../schemas/values/metadata-limits.ts'
import { type AuditContext, createAuditEntry } from '../audit/index.ts'
import { listMetadataNames } from './metadata-size.ts'

/** The requested changes, without unchanged identifiers. */
export interface Changes {
  email: string | undefined
  phone: string | undefined
  password: string | undefined
  nonce: string | undefined
  data: UserMetadata | undefined
  app_metadata: UserMetadata | undefined
}

/** Whether it changes a credential. */
export function isCredentialChange({ email, phone, password }: Changes): boolean {
  return [email, phone, password].some((value) => value !== undefined)
}

/**
 * Throws not_admin, session_impersonated, validation_failed, user_sso_managed or email_not_confirmed for a forbidden
 * change.
 */
export function checkProfile(
  { config }: FastifyInstance,
  { user, claims, session }: AuthContext,
  changes: Changes,
): void {
  const { email, phone, password, nonce } = changes
  const roles = [claims.role, ...(session ? [user.role] : [])]
  const isAdmin = roles.every((role) => role && config.AUTH_JWT_ADMIN_ROLES.includes(role))
  if (changes.app_metadata && !isAdmin) throw notAdmin()
  const touchesSignIn = isCredentialChange(changes)
  if ((touchesSignIn || changes.app_metadata) && isImpersonated(claims)) throw sessionImpersonated()
  if (user.is_anonymous && password !== undefined && !email && !phone) {
    throw validationFailed(
      'Updating password of an anonymous user without an email or phone is not allowed',
      422,
    )
  }
  if (user.is_sso_user && (touchesSignIn || nonce)) {
    throw ssoManaged('Updating email, phone, password of a SSO account only possible via SSO')
  }
  // A phone number is kept when the email is verified: the user who set it could then sign in to the verified owner's
  // account.
  if (phone && user.email && !user.email_confirmed_at) {
    throw emailNotConfirmed('Confirm the email address before you add a phone number', 422)
  }
}

/** Merges the metadata and records the change in one statement. Returns the changed user. Throws metadata_too_large. */
export async function updateProfile(
  { audit, config }: FastifyInstance,
  db: Db,
  user: UserRecord,
  { data, app_metadata }: Changes,
  { ip, now }: AuditContext,
): Promise<UserRecord> {
  const entry = createAuditEntry(audit, 'user_modified', user, ip)
  const edit = { user: data, app: app_metadata }
  const limits = metadataLimits(config)
  const row = await editUser(db, user.id, edit, limits, entry, now)
  if (!row && (await findUser(db, user.id))) throw metadataTooLarge(listMetadataNames(edit), limits)
  return { ...user, ...row }
}
