/** One-time links and their codes, by kind: what is made, where the link leads, and what it proves later. */
import type { Db } from '../../../db/database.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../flows/link-context.ts'
import { type LinkFacts, type LinkKind, linkKinds } from './kinds.ts'
import { createToken, type TokenPolicy } from './tokens.ts'

export interface Link {
  url: string
  code: string
  linkToken: string
  expiresAt: Date
}

/** Makes the link and replaces the one of the same kind that the person may have. */
export async function createLink(
  house: House<'config' | 'mailer'> & TokenPolicy,
  db: Db,
  kind: LinkKind,
  person: { id: string; address: string },
  { redirectTo, baseUrl, pkce }: LinkContext,
  now: Date,
): Promise<Link> {
  const { tokenType, verificationType, path, flowMethod } = linkKinds[kind]
  const { AUTH_MAILER_OTP_LENGTH: digits, AUTH_MAILER_OTP_EXP: ttlSeconds } = house.config
  const usesPkce = pkce !== undefined && flowMethod !== undefined
  const { id: userId, address } = person
  const wanted = { userId, type: tokenType, address, digits, ttlSeconds, pkce: usesPkce }
  const token = await createToken(house, db, wanted, now)
  const url = house.mailer.confirmationUrl({
    base: baseUrl,
    urlPath: configuredPath(house, path),
    token: token.linkToken,
    type: verificationType,
    redirectTo,
  })
  return { ...token, url, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
}

/** A code that no link leads to: what a signed-in person types to show that the mailbox is theirs. */
export async function createNonce(
  house: House<'config'> & TokenPolicy,
  db: Db,
  userId: string,
  address: string,
  now: Date,
): Promise<Pick<Link, 'code' | 'expiresAt'>> {
  const { AUTH_MAILER_OTP_LENGTH: digits, AUTH_MAILER_OTP_EXP: ttlSeconds } = house.config
  const type = 'reauthentication_token'
  const wanted = { userId, type, address, digits, ttlSeconds, pkce: false } as const
  const { code } = await createToken(house, db, wanted, now)
  return { code, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
}

/** A path equal to the default is below the server's own URL, whatever path that URL has. */
function configuredPath({ config }: House<'config'>, path: LinkFacts['path']): string | undefined {
  const configured = config[`AUTH_MAILER_URLPATHS_${path}`]
  return configured === '/verify' ? undefined : configured
}
