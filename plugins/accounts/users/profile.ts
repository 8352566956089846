/** What signed-in people may change about themselves. */
import type { Db } from '../../../db/database.ts'
import { editUser } from '../../../db/user-edits.ts'
import { findUser, type Metadata, type UserRecord } from '../../../db/users.ts'
import {
  emailNotConfirmed,
  insufficientAal,
  metadataTooLarge,
  notAdmin,
  sessionImpersonated,
  ssoManaged,
  validationFailed,
} from '../../../errors.ts'
import { isImpersonated } from '../../../schemas/access-token.ts'
import type { Bearer } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { namesOf } from './metadata-size.ts'

/** What the person asks for; an address that is already theirs is not asked for. */
export interface Changes {
  email: string | undefined
  phone: string | undefined
  password: string | undefined
  nonce: string | undefined
  data: Metadata | undefined
  app_metadata: Metadata | undefined
}

/**
 * Throws not_admin, session_impersonated, insufficient_aal, validation_failed, user_sso_managed or email_not_confirmed
 * for what is not theirs to change.
 */
export function checkProfile(
  { bearerAuth, config }: House<'bearerAuth' | 'config'>,
  { user, claims, session }: Bearer,
  changes: Changes,
  now: Date,
): void {
  const { email, phone, password, nonce } = changes
  const roles = [claims.role, ...(session ? [user.role] : [])]
  const isAdmin = roles.every((role) => role && config.AUTH_JWT_ADMIN_ROLES.includes(role))
  if (changes.app_metadata && !isAdmin) throw notAdmin()
  const touchesSignIn = [email, phone, password].some((value) => value !== undefined)
  if ((touchesSignIn || changes.app_metadata) && isImpersonated(claims)) throw sessionImpersonated()
  if (touchesSignIn && !bearerAuth.isConfirmed({ user, session }, now)) {
    throw insufficientAal(
      'AAL2 session is required to update email or password when MFA is enabled.',
    )
  }
  if (user.is_anonymous && password !== undefined && !email && !phone) {
    throw validationFailed(
      'Updating password of an anonymous user without an email or phone is not allowed',
      422,
    )
  }
  if (user.is_sso_user && (touchesSignIn || nonce)) {
    throw ssoManaged('Updating email, phone, password of a SSO account only possible via SSO')
  }
  // A number stays when the address is proven: it would be a way into the account of whoever proves it.
  if (phone && user.email && !user.email_confirmed_at) {
    throw emailNotConfirmed('Confirm the email address before you add a phone number', 422)
  }
}

/**
 * Merges the metadata and records the change, in one statement. Returns the person as they are then. Throws
 * metadata_too_large.
 */
export async function putProfile(
  { audit, config }: House<'audit' | 'config'>,
  db: Db,
  user: UserRecord,
  { data, app_metadata }: Changes,
  { ip, now }: { ip: string; now: Date },
): Promise<UserRecord> {
  const entry = audit.entry('user_modified', user, ip)
  const edit = { user: data, app: app_metadata }
  const most = config.AUTH_USER_METADATA_MAX_BYTES
  const row = await editUser(db, user.id, edit, most, entry, now)
  if (!row && (await findUser(db, user.id))) throw metadataTooLarge(namesOf(edit), most)
  return { ...user, ...row }
}
