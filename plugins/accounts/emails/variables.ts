import type { UserRecord } from '../../../db/users.ts'
import type { Config } from '../../config/config.ts'
import type { Link } from '../otp/email-links.ts'

/** What every mail may say. */
export function commonVariables({ AUTH_SITE_URL }: Config, person: UserRecord) {
  const { email, raw_user_meta_data: metadata } = person
  return { SiteURL: AUTH_SITE_URL, Email: email ?? '', Data: metadata ?? {} }
}

export function linkVariables({ url, code, linkToken }: Link, redirectTo: string) {
  return { ConfirmationURL: url, Token: code, TokenHash: linkToken, RedirectTo: redirectTo }
}
