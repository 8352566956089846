/** One-time links with their codes, by type. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { LinkContext } from './link-context.ts'
import { type LinkKind, type LinkKindDefinition, linkKinds } from './link-types.ts'
import { createToken } from './tokens.ts'

export interface EmailLink {
  url: string
  code: string
  /** For an app that exchanges it for a session. */
  tokenHash: string
  expiresAt: Date
}

/** Creates the link and replaces the user's previous one of this type. */
export async function createEmailLink(
  app: FastifyInstance,
  db: Db,
  kind: LinkKind,
  user: { id: string; address: string },
  { redirectTo, baseUrl, pkce }: LinkContext,
  now: Date,
): Promise<EmailLink> {
  const { tokenType, purpose, verificationType, path, flowMethod } = linkKinds[kind]
  const { AUTH_MAILER_OTP_LENGTH: digits, AUTH_MAILER_OTP_EXP: ttlSeconds } = app.config
  const usesPkce = pkce !== undefined && flowMethod !== undefined
  const { id: userId, address } = user
  const input = { userId, type: tokenType, purpose, address, digits, ttlSeconds, pkce: usesPkce }
  const token = await createToken(app, db, input, now)
  const url = app.mailer.confirmationUrl({
    base: baseUrl,
    urlPath: configuredPath(app, path),
    token: token.linkToken,
    type: verificationType,
    redirectTo,
  })
  return { ...token, url, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
}

/** Creates a code without a link, for the reauthentication of a signed-in user. */
export async function createReauthenticationNonce(
  app: FastifyInstance,
  db: Db,
  userId: string,
  address: string,
  now: Date,
): Promise<Pick<EmailLink, 'code' | 'expiresAt'>> {
  const { AUTH_MAILER_OTP_LENGTH: digits, AUTH_MAILER_OTP_EXP: ttlSeconds } = app.config
  const type = 'reauthentication_token'
  const input = { userId, type, address, digits, ttlSeconds, pkce: false } as const
  const { code } = await createToken(app, db, input, now)
  return { code, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
}

/** A path equal to the default is resolved below the server's URL, whatever its path. */
function configuredPath(
  { config }: FastifyInstance,
  path: LinkKindDefinition['path'],
): string | undefined {
  const configured = config[`AUTH_MAILER_URLPATHS_${path}`]
  return configured === '/verify' ? undefined : configured
}
