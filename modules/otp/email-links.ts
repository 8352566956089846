/** One-time links with their codes, by type. */
import type { Db } from '../../db/core/database.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { LinkContext } from './link-context.ts'
import { type LinkKind, type LinkKindDefinition, linkKinds } from './link-types.ts'
import { createToken, type TokenPolicy } from './tokens.ts'

export interface EmailLink {
  url: string
  code: string
  /** For an app that exchanges it for a session. */
  tokenHash: string
  expiresAt: Date
}

/** Creates the link and replaces the user's previous one of this type. */
export async function createEmailLink(
  deps: Deps<'config' | 'mailer'> & TokenPolicy,
  db: Db,
  kind: LinkKind,
  user: { id: string; address: string },
  { redirectTo, baseUrl, pkce }: LinkContext,
  now: Date,
): Promise<EmailLink> {
  const { tokenType, verificationType, path, flowMethod } = linkKinds[kind]
  const { AUTH_MAILER_OTP_LENGTH: digits, AUTH_MAILER_OTP_EXP: ttlSeconds } = deps.config
  const usesPkce = pkce !== undefined && flowMethod !== undefined
  const { id: userId, address } = user
  const input = { userId, type: tokenType, address, digits, ttlSeconds, pkce: usesPkce }
  const token = await createToken(deps, db, input, now)
  const url = deps.mailer.confirmationUrl({
    base: baseUrl,
    urlPath: configuredPath(deps, path),
    token: token.linkToken,
    type: verificationType,
    redirectTo,
  })
  return { ...token, url, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
}

/** Creates a code without a link, for the reauthentication of a signed-in user. */
export async function createReauthenticationNonce(
  deps: Deps<'config'> & TokenPolicy,
  db: Db,
  userId: string,
  address: string,
  now: Date,
): Promise<Pick<EmailLink, 'code' | 'expiresAt'>> {
  const { AUTH_MAILER_OTP_LENGTH: digits, AUTH_MAILER_OTP_EXP: ttlSeconds } = deps.config
  const type = 'reauthentication_token'
  const input = { userId, type, address, digits, ttlSeconds, pkce: false } as const
  const { code } = await createToken(deps, db, input, now)
  return { code, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
}

/** A path equal to the default is resolved below the server's URL, whatever its path. */
function configuredPath(
  { config }: Deps<'config'>,
  path: LinkKindDefinition['path'],
): string | undefined {
  const configured = config[`AUTH_MAILER_URLPATHS_${path}`]
  return configured === '/verify' ? undefined : configured
}
