/**
 * One-time tokens: the digits we mail or text, and the link that carries the same proof.
 * The link token is a keyed hash of type, address and code, so both forms prove one thing and are spent together.
 * The database holds a hash of the link token: a leaked table opens no account and no code can be searched offline.
 */
import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import {
  countGuess,
  deleteToken,
  findToken,
  lockTokenOwners,
  putToken,
  type TokenRow,
  type TokenType,
  takeToken,
} from '../../db/one-time-tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    oneTimeTokens: ReturnType<typeof createOneTimeTokens>
  }
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

export function createOneTimeTokens(key: Buffer) {
  function secretOf(type: TokenType, address: string, code: string): string {
    // Six digits repeat across people and purposes, so both are part of what is hashed.
    return createHmac('sha256', key).update(`${type}\n${address}\n${code}`).digest('hex')
  }

  function matches(row: TokenRow, address: string, code: string): boolean {
    const secret = secretOf(row.token_type, address, code)
    return [secret, pkcePrefix + secret].some((link) => equal(sha256(link), row.token_hash))
  }

  const newCode = (digits: number) =>
    randomInt(10 ** digits)
      .toString()
      .padStart(digits, '0')

  return {
    newCode,

    /** Replaces the token of this type that the person may have; the old one is void from now on. */
    async create(db: Db, request: TokenRequest, now: Date): Promise<OneTimeToken> {
      const { userId, type, address, digits, ttlSeconds, pkce } = request
      const code = request.code ?? newCode(digits)
      const linkToken = (pkce ? pkcePrefix : '') + secretOf(type, address, code)
      const token = {
        user_id: userId,
        token_type: type,
        token_hash: sha256(linkToken),
        relates_to: address,
        expires_at: new Date(now.getTime() + ttlSeconds * 1000),
      }
      await putToken(db, token, now)
      return { code, linkToken }
    },

    /**
     * Spends a typed code, which also works for a link that would end in an auth code.
     * Undefined for a wrong, old or used one: the guess is counted, so the caller must commit before it refuses.
     */
    async takeCode(
      trx: Trx,
      types: readonly TokenType[],
      address: string,
      code: string,
      now: Date,
    ): Promise<TokenRow | undefined> {
      if (types.length === 0) return undefined
      await lockTokenOwners(trx, types, { address }, now)
      const rows = await countGuess(trx, types, address, now)
      const row = rows.find((candidate) => matches(candidate, address, code))
      if (row) await deleteToken(trx, row.id)
      return row
    },

    /** Spends a link. Undefined for a wrong, old or used one. */
    async takeLink(
      trx: Trx,
      types: readonly TokenType[],
      linkToken: string,
      now: Date,
    ): Promise<TokenRow | undefined> {
      if (types.length === 0) return undefined
      const tokenHash = sha256(linkToken)
      await lockTokenOwners(trx, types, { tokenHash }, now)
      return takeToken(trx, types, tokenHash, now)
    },

    /** Reads what a link is for without spending it. */
    async findLink(db: Db, types: readonly TokenType[], linkToken: string, now: Date) {
      return types.length === 0 ? undefined : findToken(db, types, sha256(linkToken), now)
    },

    isPkce: (linkToken: string) => linkToken.startsWith(pkcePrefix),
  }
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}

function equal(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function oneTimeTokens(fastify: FastifyInstance) {
  const key = fastify.encryption.deriveKey('one-time tokens')
  fastify.decorate('oneTimeTokens', createOneTimeTokens(key))
}

export default fp(oneTimeTokens, {
  name: 'one-time-tokens',
  fastify: '5.x',
  dependencies: ['encryption'],
})
