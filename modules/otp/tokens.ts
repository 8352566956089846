/** One-time tokens: a code and a link for the same verification, consumed together. */
import { createHmac, randomInt } from 'node:crypto'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  type AttemptTarget,
  countTokenAttempt,
  dummyTokens,
  lockOwnerOfLink,
} from '../../db/tokens/attempts.ts'
import type { Lifetimes } from '../../db/tokens/expiry.ts'
import {
  consumeToken,
  deleteToken,
  findToken,
  type TokenRow,
  type TokenType,
  upsertToken,
} from '../../db/tokens/one-time-tokens.ts'
import {
  isOfCode,
  listTokenHashes,
  newForm,
  type OtpForIdentifier,
  type TokenForms,
} from './token-encoding.ts'

export interface TokenPolicy extends TokenForms {
  /** The lifetimes of GoTrue's tokens. */
  lifetimes: Lifetimes
}

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
}

export function newCode(digits: number): string {
  return randomInt(10 ** digits)
    .toString()
    .padStart(digits, '0')
}

/** Creates a token and replaces the user's previous one of this type. */
export async function createToken(
  policy: TokenPolicy,
  db: Db,
  request: NewTokens,
  now: Date,
): Promise<OneTimeToken> {
  const { userId, type, address, digits, ttlSeconds, pkce } = request
  const code = request.code ?? newCode(digits)
  const { linkToken, tokenHash, stored, mirror } = newForm(policy, { type, address, code }, pkce)
  const token = {
    user_id: userId,
    token_type: type,
    token_hash: stored,
    relates_to: address,
    expires_at: new Date(now.getTime() + ttlSeconds * 1000),
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
  policy: TokenPolicy,
  trx: Trx,
  types: readonly TokenType[],
  typed: OtpForIdentifier,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const at = findAttemptTarget(policy, typed.address)
  const sent = await countTokenAttempt(trx, types, at, now)
  // A comparison is always made: its duration would reveal whether a code was sent.
  const compared = sent.length > 0 ? sent : types.map(unknownToken)
  const row = compared.find((candidate) => isOfCode(policy, candidate, typed))
  if (row) await deleteToken(trx, row.id)
  return row
}

function unknownToken(token_type: TokenType): TokenRow {
  return { id: '', user_id: '', token_type, token_hash: '0'.repeat(64), relates_to: '' }
}

/** Attempts at one identifier always use the same dummy row, as attempts at a token use its row. */
export function findAttemptTarget(
  { tokenKey, lifetimes }: TokenPolicy,
  address: string,
): AttemptTarget {
  const hash = createHmac('sha256', tokenKey).update(`dummy\n${address}`).digest()
  return { address, dummySlot: hash.readUInt32BE() % dummyTokens, lifetimes }
}

/** Consumes a link. Undefined for a wrong, expired or consumed one, and for one sent to another address. */
export async function consumeEmailLink(
  { lifetimes }: TokenPolicy,
  trx: Trx,
  types: readonly TokenType[],
  { linkToken, email }: { linkToken: string; email?: string },
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const key = { types, hashes: listTokenHashes(linkToken), address: email }
  await lockOwnerOfLink(trx, key, lifetimes, now)
  return consumeToken(trx, key, lifetimes, now)
}

/** Reads the purpose of a link without consuming it. */
export async function findEmailLink(
  { lifetimes }: TokenPolicy,
  db: Db,
  types: readonly TokenType[],
  linkToken: string,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  return findToken(db, { types, hashes: listTokenHashes(linkToken) }, lifetimes, now)
}
