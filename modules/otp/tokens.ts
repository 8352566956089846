/** One-time tokens: a code and a link for the same verification, consumed together. */
import { createHmac, randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  type AttemptTarget,
  countTokenAttempt,
  dummyTokens,
  lockOwnerOfLink,
} from '../../db/tokens/attempts.ts'
import {
  consumeToken,
  deleteToken,
  findToken,
  type TokenPurpose,
  type TokenRow,
  type TokenType,
  upsertToken,
} from '../../db/tokens/one-time-tokens.ts'
import { isOfCode, listTokenHashes, newForm, type OtpForIdentifier } from './token-encoding.ts'

interface OneTimeToken {
  /** Decimal digits, to be typed. */
  code: string
  /** The token in the link; prefixed with `pkce_` when the link issues an auth code. */
  linkToken: string
  /** For an app that exchanges it for a session; differs from the link token for PKCE clients. */
  tokenHash: string
}

interface NewTokens {
  userId: string
  type: TokenType
  /** The recipient, in its stored form. */
  address: string
  digits: number
  ttlSeconds: number
  pkce: boolean
  /** A code that was sent already; generated when absent. */
  code?: string
  /** Unless it may be used for everything that its type is for. */
  purpose?: TokenPurpose | undefined
}

export function newCode(digits: number): string {
  return randomInt(10 ** digits)
    .toString()
    .padStart(digits, '0')
}

/** Creates a token and replaces the user's previous one of this type. */
export async function createToken(
  app: FastifyInstance,
  db: Db,
  request: NewTokens,
  now: Date,
): Promise<OneTimeToken> {
  const { userId, type, address, digits, ttlSeconds, pkce, purpose = null } = request
  const code = request.code ?? newCode(digits)
  const { linkToken, tokenHash, stored, mirror } = newForm(app, { type, address, code }, pkce)
  const token = {
    user_id: userId,
    token_type: type,
    token_hash: stored,
    relates_to: address,
    expires_at: new Date(now.getTime() + ttlSeconds * 1000),
    purpose,
    mirror,
  }
  await upsertToken(db, token, now)
  return { code, linkToken, tokenHash }
}

/**
 * Consumes a typed code, also that of a PKCE link. Undefined for a wrong, expired or consumed one: the attempt is
 * counted, so that the caller must commit before it rejects.
 */
export async function consumeOtpCode(
  app: FastifyInstance,
  trx: Trx,
  types: readonly TokenType[],
  { excluded, ...typed }: OtpForIdentifier & { excluded?: TokenPurpose | undefined },
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const at = { ...findAttemptTarget(app, typed.address), excluded }
  const sent = await countTokenAttempt(trx, types, at, now)
  // A comparison is always made: its duration would reveal whether a code was sent.
  const compared = sent.length > 0 ? sent : types.map(unknownToken)
  const row = compared.find((candidate) => isOfCode(app, candidate, typed))
  if (row) await deleteToken(trx, row.id)
  return row
}

function unknownToken(token_type: TokenType): TokenRow {
  return { id: '', user_id: '', token_type, token_hash: '0'.repeat(64), relates_to: '' }
}

/** Attempts at one identifier always use the same dummy row, as attempts at a token use its row. */
export function findAttemptTarget(app: FastifyInstance, address: string): AttemptTarget {
  const hash = createHmac('sha256', app.otp.tokenKey).update(`dummy\n${address}`).digest()
  return { address, dummySlot: hash.readUInt32BE() % dummyTokens, lifetimes: app.otp.lifetimes }
}

interface PresentedLink {
  linkToken: string
  email?: string | undefined
  /** What it must not have been sent for. */
  excluded?: TokenPurpose | undefined
}

/** Consumes a link. Undefined for a wrong, expired or consumed one, and for one sent to another address. */
export async function consumeEmailLink(
  app: FastifyInstance,
  trx: Trx,
  types: readonly TokenType[],
  { linkToken, email, excluded }: PresentedLink,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const key = { types, hashes: listTokenHashes(linkToken), address: email, excluded }
  await lockOwnerOfLink(trx, key, app.otp.lifetimes, now)
  return consumeToken(trx, key, app.otp.lifetimes, now)
}

/** Reads the purpose of a link without consuming it. */
export async function findEmailLink(
  app: FastifyInstance,
  db: Db,
  types: readonly TokenType[],
  { linkToken, excluded }: PresentedLink,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  return findToken(
    db,
    { types, hashes: listTokenHashes(linkToken), excluded },
    app.otp.lifetimes,
    now,
  )
}
