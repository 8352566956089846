/** One-time tokens: the digits we mail or text, and the link that carries the same proof. They are spent together. */
import { createHmac, randomInt } from 'node:crypto'

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
} from '../../../db/token-guesses.ts'
import type { Lifetimes } from '../../../db/token-life.ts'
import { type AddressedCode, hashesOf, isOfCode, newForm, type TokenForms } from './token-forms.ts'

export interface TokenPolicy extends TokenForms {
  /** Of tokens that GoTrue made. */
  lifetimes: Lifetimes
}

export interface OneTimeToken {
  /** Decimal digits, to be typed. */
  code: string
  /** Hex digits, to be carried by a link; `pkce_` in front when the link ends in an auth code. */
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

export function newCode(digits: number): string {
  return randomInt(10 ** digits)
    .toString()
    .padStart(digits, '0')
}

/** Replaces the token of this type that the person may have; the old one is void from now on. */
export async function createToken(
  policy: TokenPolicy,
  db: Db,
  request: TokenRequest,
  now: Date,
): Promise<OneTimeToken> {
  const { userId, type, address, digits, ttlSeconds, pkce } = request
  const code = request.code ?? newCode(digits)
  const { linkToken, stored, mirror } = newForm(policy, { type, address, code }, pkce)
  const token = {
    user_id: userId,
    token_type: type,
    token_hash: stored,
    relates_to: address,
    expires_at: new Date(now.getTime() + ttlSeconds * 1000),
    mirror,
  }
  await putToken(db, token, now)
  return { code, linkToken }
}

/**
 * Spends a typed code, which also works for a link that would end in an auth code.
 * Undefined for a wrong, old or used one: the guess is counted, so the caller must commit before it refuses.
 */
export async function takeCode(
  policy: TokenPolicy,
  trx: Trx,
  types: readonly TokenType[],
  typed: AddressedCode,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const at = guessedAt(policy, typed.address)
  const sent = await countTokenGuess(trx, types, at, now)
  // Compared with something in any case: comparing takes time, which would tell where codes were sent.
  const compared = sent.length > 0 ? sent : types.map(tokenOfNobody)
  const row = compared.find((candidate) => isOfCode(policy, candidate, typed))
  if (row) await deleteToken(trx, row.id)
  return row
}

function tokenOfNobody(token_type: TokenType): TokenRow {
  return { id: '', user_id: '', token_type, token_hash: '0'.repeat(64), relates_to: '' }
}

/** Guesses at one address always meet the same decoy, as guesses at one token meet the same token. */
export function guessedAt({ tokenKey, lifetimes }: TokenPolicy, address: string): GuessedAt {
  const hash = createHmac('sha256', tokenKey).update(`decoy\n${address}`).digest()
  return { address, decoySlot: hash.readUInt32BE() % decoyTokens, lifetimes }
}

/** Spends a link. Undefined for a wrong, old or used one, and for one that went to another address than is named. */
export async function takeLink(
  { lifetimes }: TokenPolicy,
  trx: Trx,
  types: readonly TokenType[],
  { linkToken, email }: { linkToken: string; email?: string },
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  const key = { types, hashes: hashesOf(linkToken), address: email }
  await lockOwnerOfLink(trx, key, lifetimes, now)
  return takeToken(trx, key, lifetimes, now)
}

/** Reads what a link is for without spending it. */
export async function findLink(
  { lifetimes }: TokenPolicy,
  db: Db,
  types: readonly TokenType[],
  linkToken: string,
  now: Date,
): Promise<TokenRow | undefined> {
  if (types.length === 0) return undefined
  return findToken(db, { types, hashes: hashesOf(linkToken) }, lifetimes, now)
}
