/**
 * One-time tokens: the digits we mail or text, and the link that carries the same proof.
 * The link token is a keyed hash of type, address and code, so both forms prove one thing and are spent together.
 * The database holds a hash of the link token: a leaked table opens no account and no code can be searched offline.
 */
import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto'

import type { Db, Trx } from '../../../db/database.ts'
import {
  deleteToken,
  findToken,
  putToken,
  type TokenRow,
  type TokenType,
  takeToken,
} from '../../../db/one-time-tokens.ts'
import {
  countTokenGuess,
  decoyTokens,
  type GuessedAt,
  lockOwnerOfLink,
  lockOwnersAt,
} from '../../../db/token-guesses.ts'

export interface TokenPolicy {
  /** Of the hash that makes a link token from a code. */
  tokenKey: Buffer
}

export interface OneTimeToken {
  /** Decimal digits, to be typed. */
  code: string
  /** 64 hex digits, to be carried by a link; `pkce_` in front when the link ends in an auth code. */
  linkToken: string
}

export interface TokenRequest {
  userId: string
  type: TokenType
  /** The address the code goes to, in its stored form. */
  address: string
  digits: number
  ttlSeconds: number
  pkce: boolean
  /** One that is on its way already; made when absent. */
  code?: string
}

const pkcePrefix = 'pkce_'

export function newCode(digits: number): string {
  return randomInt(10 ** digits)
    .toString()
    .padStart(digits, '0')
}

/** Replaces the token of this type that the person may have; the old one is void from now on. */
export async function createToken(
  { tokenKey }: TokenPolicy,
  db: Db,
  request: TokenRequest,
  now: Date,
): Promise<OneTimeToken> {
  const { userId, type, address, digits, ttlSeconds, pkce } = request
  const code = request.code ?? newCode(digits)
  const linkToken = (pkce ? pkcePrefix : '') + secretOf(tokenKey, type, address, code)
  const token = {
    user_id: userId,
    token_type: type,
    token_hash: sha256(linkToken),
    relates_to: address,
    expires_at: new Date(now.getTime() + ttlSeconds * 1000),
  }
  await putToken(db, token, now)
  return { code, linkToken }
}

/**
 * Spends a typed code, which also works for a link that would end in an auth code.
 * Undefined for a wrong, old or used one: the guess is counted, so the caller must commit before it refuses.
 */
export async function takeCode(
  { tokenKey }: TokenPolicy,
  trx: Trx,
  types: readonly TokenType[],
  address: string,
  code: string,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const at = guessedAt({ tokenKey }, address)
  await lockOwnersAt(trx, types, at, now)
  const rows = await countTokenGuess(trx, types, at, now)
  const row = rows.find((candidate) => matches(tokenKey, candidate, address, code))
  if (row) await deleteToken(trx, row.id)
  return row
}

/** Guesses at one address always meet the same decoy, as guesses at one token meet the same token. */
export function guessedAt({ tokenKey }: TokenPolicy, address: string): GuessedAt {
  const hash = createHmac('sha256', tokenKey).update(`decoy\n${address}`).digest()
  return { address, decoySlot: hash.readUInt32BE() % decoyTokens }
}

/** Spends a link. Undefined for a wrong, old or used one, and for one that went to another address than is named. */
export async function takeLink(
  trx: Trx,
  types: readonly TokenType[],
  { linkToken, email }: { linkToken: string; email?: string },
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const tokenHash = sha256(linkToken)
  await lockOwnerOfLink(trx, types, tokenHash, now)
  return takeToken(trx, types, { tokenHash, address: email }, now)
}

/** Reads what a link is for without spending it. */
export async function findLink(
  db: Db,
  types: readonly TokenType[],
  linkToken: string,
  now: Date,
): Promise<TokenRow | undefined> {
  return types.length === 0 ? undefined : findToken(db, types, sha256(linkToken), now)
}

/** Whether the link ends in an auth code. */
export function isPkce(linkToken: string): boolean {
  return linkToken.startsWith(pkcePrefix)
}

function secretOf(key: Buffer, type: TokenType, address: string, code: string): string {
  // Six digits repeat across people and purposes, so both are part of what is hashed.
  return createHmac('sha256', key).update(`${type}\n${address}\n${code}`).digest('hex')
}

function matches(key: Buffer, row: TokenRow, address: string, code: string): boolean {
  const secret = secretOf(key, row.token_type, address, code)
  return [secret, pkcePrefix + secret].some((link) => equal(sha256(link), row.token_hash))
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}

function equal(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
