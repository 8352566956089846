import type { UserRecord } from '../../../db/users.ts'
import type { Link } from '../links.ts'

/** What every letter may say. */
export function commonVariables(siteUrl: string, person: UserRecord) {
  return { SiteURL: siteUrl, Email: person.email ?? '', Data: person.raw_user_meta_data ?? {} }
}

export function linkVariables({ url, code, linkToken }: Link, redirectTo: string) {
  return { ConfirmationURL: url, Token: code, TokenHash: linkToken, RedirectTo: redirectTo }
}
