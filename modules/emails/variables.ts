import type { Config } from '../../config/groups/index.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { EmailLink } from '../otp/email-links.ts'

/** The variables of every email. */
export function userVariables({ AUTH_SITE_URL }: Config, user: UserRecord) {
  const { email, raw_user_meta_data: metadata } = user
  return { SiteURL: AUTH_SITE_URL, Email: email ?? '', Data: metadata ?? {} }
}

export function getLinkVariables({ url, code, tokenHash }: EmailLink, redirectTo: string) {
  return { ConfirmationURL: url, Token: code, TokenHash: tokenHash, RedirectTo: redirectTo }
}
