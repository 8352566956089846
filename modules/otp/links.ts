/** One-time links with their codes, and the types of links. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { AmrMethod } from '../../db/tables/sessions.ts'
import type { TokenPurpose, TokenType } from '../../db/tokens/one-time-tokens.ts'
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

export type LinkKind =
  | 'confirmation'
  | 'invite'
  | 'recovery'
  | 'magic_link'
  | 'email_change_new'
  | 'email_change_current'

/** The `type` of a link, read by /verify. */
export type VerificationType = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change'

interface LinkKindDefinition {
  tokenType: TokenType
  /** Where one token type is for two purposes. */
  purpose?: TokenPurpose
  verificationType: VerificationType
  /** The suffix of the setting AUTH_MAILER_URLPATHS_<path>. */
  path: 'CONFIRMATION' | 'INVITE' | 'RECOVERY' | 'EMAIL_CHANGE'
  /** The method of the client's PKCE flow; an invitation has none. */
  flowMethod: AmrMethod | undefined
}

export const linkKinds: Record<LinkKind, LinkKindDefinition> = {
  confirmation: {
    tokenType: 'confirmation_token',
    verificationType: 'signup',
    path: 'CONFIRMATION',
    flowMethod: 'email/signup',
  },
  invite: {
    tokenType: 'confirmation_token',
    verificationType: 'invite',
    path: 'INVITE',
    flowMethod: undefined,
  },
  recovery: {
    tokenType: 'recovery_token',
    verificationType: 'recovery',
    path: 'RECOVERY',
    flowMethod: 'recovery',
  },
  magic_link: {
    tokenType: 'recovery_token',
    purpose: 'sign_in',
    verificationType: 'magiclink',
    path: 'RECOVERY',
    flowMethod: 'magiclink',
  },
  email_change_new: {
    tokenType: 'email_change_token_new',
    verificationType: 'email_change',
    path: 'EMAIL_CHANGE',
    flowMethod: 'email_change',
  },
  email_change_current: {
    tokenType: 'email_change_token_current',
    verificationType: 'email_change',
    path: 'EMAIL_CHANGE',
    flowMethod: 'email_change',
  },
}

/** The flow method of a verified link type. */
export function getLinkMethod(type: string): AmrMethod {
  const kind = Object.values(linkKinds).find((facts) => facts.verificationType === type)
  return kind?.flowMethod ?? 'otp'
}

/** Plain JSON, so that a queue can store it. */
export interface LinkContext {
  redirectTo: string
  /** The base URL of the link. */
  baseUrl: string
  pkce: Pkce | undefined
  /** The client's network, for send quotas; absent in jobs of an earlier release. */
  network?: string | undefined
  /** The UUID of the message, when the client gets one. */
  messageId?: string
}

/** The code challenge of the client (RFC 7636 §4.3). */
export interface Pkce {
  challenge: string
  method: 's256' | 'plain'
}
