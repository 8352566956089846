/**
 * How a token is created and stored. In our own form the link token is a keyed hash of type, address and code, and the
 * database holds a hash of it: a leaked table gives access to no account, and codes cannot be searched offline. While
 * GoTrue shares the database, the link token is stored unhashed, because GoTrue looks it up by its value; it is a keyed
 * hash too. GoTrue's own form is a plain hash of address and code, so that a typed code reveals the link: that form is
 * accepted, but never created. The link of a PKCE client (RFC 7636) carries a hash of the token hash: it issues an auth
 * code, which needs the verifier, and cannot be exchanged for a session. The token hash can be exchanged; emails
 * contain it only where the operator's template or hook includes it.
 */
import { createHash, createHmac, type KeyObject } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { TokenRow, TokenType } from '../../db/tokens/one-time-tokens.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'

/** A code and its recipient. */
export interface OtpForIdentifier {
  /** In its stored form. */
  address: string
  code: string
}

interface Sent extends OtpForIdentifier {
  type: TokenType
}

const pkcePrefix = 'pkce_'
/** The link of a PKCE client: a base64url digest, which has another form than a token hash. */
const pkceLink = /^pkce_[A-Za-z0-9_-]{43}$/
const pkceTokenHash = /^pkce_[0-9a-f]{64}$/
const gotrueLength = /^(pkce_)?[0-9a-f]{56}$/

/** A new token. */
interface NewTokenForm {
  /** The token in the link. */
  linkToken: string
  /** The token that an app exchanges for a session. */
  tokenHash: string
  stored: string
  /** What GoTrue compares a typed code with; null where it does not share the database. */
  mirror: string | null
}

export function newForm(
  { gotrueMigration, otp: { tokenKey } }: FastifyInstance,
  sent: Sent,
  pkce: boolean,
): NewTokenForm {
  const prefix = pkce ? pkcePrefix : ''
  if (gotrueMigration.isShared) {
    const linkToken = prefix + ownSecret(tokenKey, sent, 'sha224')
    return {
      linkToken,
      tokenHash: linkToken,
      stored: linkToken,
      mirror: prefix + gotrueSecret(sent),
    }
  }
  const tokenHash = prefix + ownSecret(tokenKey, sent, 'sha256')
  const linkToken = pkce ? toPkceLinkToken(tokenHash) : tokenHash
  return { linkToken, tokenHash, stored: sha256(linkToken), mirror: null }
}

/** The link token of a PKCE client for this token hash. */
function toPkceLinkToken(tokenHash: string): string {
  return pkcePrefix + createHash('sha256').update(tokenHash).digest('base64url')
}

/**
 * The possible stored hashes of a token from a link or an app. Only a token of GoTrue's length is looked up unhashed.
 */
export function listTokenHashes(token: string): string[] {
  const hashes = gotrueLength.test(token) ? [token, sha256(token)] : [sha256(token)]
  return pkceTokenHash.test(token) ? [sha256(toPkceLinkToken(token)), ...hashes] : hashes
}

/** True for the link token of a PKCE client, which creates no session by itself. */
export function isPkceLink(token: string): boolean {
  return pkceLink.test(token)
}

/** Whether this code was sent to the recipient, in any stored form. */
export function isOfCode(
  { otp: { tokenKeys } }: FastifyInstance,
  { token_type: type, token_hash }: TokenRow,
  typed: OtpForIdentifier,
): boolean {
  const sent = { type, ...typed }
  const hashed = tokenKeys.map((key) => ownSecret(key, sent, 'sha256'))
  const inClear = [...tokenKeys.map((key) => ownSecret(key, sent, 'sha224')), gotrueSecret(sent)]
  const stored = [
    ...hashed.flatMap((secret) => {
      const tokenHash = pkcePrefix + secret
      // The last form is that of an earlier release, whose links had the token hash.
      return [sha256(secret), sha256(toPkceLinkToken(tokenHash)), sha256(tokenHash)]
    }),
    ...inClear.flatMap((secret) => [secret, pkcePrefix + secret]),
  ]
  return stored.map((hash) => isEqualInConstantTime(hash, token_hash)).includes(true)
}

/** Whether the link issues an auth code. */
export function isPkce(linkToken: string): boolean {
  return linkToken.startsWith(pkcePrefix)
}

/** GoTrue's tokens have the length of SHA-224. */
function ownSecret(
  key: KeyObject,
  { type, address, code }: Sent,
  digest: 'sha256' | 'sha224',
): string {
  // Codes of six digits repeat across users and purposes, so that both are hashed too.
  return createHmac(digest, key).update(`${type}\n${address}\n${code}`).digest('hex')
}

function gotrueSecret({ address, code }: Sent): string {
  return createHash('sha224').update(`${address}${code}`).digest('hex')
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}
