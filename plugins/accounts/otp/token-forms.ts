/**
 * How a token is made and stored. Our own form: the link token is a keyed hash of type, address and code, and the database
 * holds a hash of it, so that a leaked table opens no account and no code can be searched offline. While GoTrue reads the
 * database, too, the link token is stored as it is, for GoTrue looks it up by that; it is a keyed hash all the same. GoTrue's
 * own form is a plain hash of address and code, so that whoever guesses the code has the link: those are only accepted.
 */
import { createHash, createHmac, type KeyObject } from 'node:crypto'

import type { TokenRow, TokenType } from '../../../db/one-time-tokens.ts'
import { isSame } from './constant-time.ts'

export interface TokenForms {
  /** Of the hash that makes a link token from a code. */
  tokenKey: KeyObject
  /** The same from every encryption key: a code that was sent before the key changed still counts. */
  tokenKeys: readonly KeyObject[]
  /** Whether GoTrue reads the database, too. */
  takeover: Readonly<{ isShared: boolean }>
}

/** A code, and the address that it goes to or that it is said to have gone to. */
export interface AddressedCode {
  /** In its stored form. */
  address: string
  code: string
}

interface Sent extends AddressedCode {
  type: TokenType
}

const pkcePrefix = 'pkce_'
const gotrueLength = /^(pkce_)?[0-9a-f]{56}$/

/** A new token. */
interface NewForm {
  /** What the link carries. */
  linkToken: string
  stored: string
  /** What GoTrue compares a typed code with; null where it does not read the database. */
  mirror: string | null
}

export function newForm(
  { tokenKey, takeover: { isShared } }: Pick<TokenForms, 'tokenKey' | 'takeover'>,
  sent: Sent,
  pkce: boolean,
): NewForm {
  const prefix = pkce ? pkcePrefix : ''
  if (isShared) {
    const linkToken = prefix + ownSecret(tokenKey, sent, 'sha224')
    return { linkToken, stored: linkToken, mirror: prefix + gotrueSecret(sent) }
  }
  const linkToken = prefix + ownSecret(tokenKey, sent, 'sha256')
  return { linkToken, stored: sha256(linkToken), mirror: null }
}

/** What may be stored for this link token. Only one of the length that GoTrue's have is looked for as it is. */
export function hashesOf(linkToken: string): string[] {
  return gotrueLength.test(linkToken) ? [linkToken, sha256(linkToken)] : [sha256(linkToken)]
}

/** Whether this code was sent to the address for the token, in whichever form that is stored. */
export function isOfCode(
  { tokenKeys }: Pick<TokenForms, 'tokenKeys'>,
  { token_type: type, token_hash }: TokenRow,
  typed: AddressedCode,
): boolean {
  const sent = { type, ...typed }
  const hashed = tokenKeys.map((key) => ownSecret(key, sent, 'sha256'))
  const inClear = [...tokenKeys.map((key) => ownSecret(key, sent, 'sha224')), gotrueSecret(sent)]
  const stored = [
    ...hashed.flatMap((secret) => [sha256(secret), sha256(pkcePrefix + secret)]),
    ...inClear.flatMap((secret) => [secret, pkcePrefix + secret]),
  ]
  return stored.map((hash) => isSame(hash, token_hash)).includes(true)
}

/** Whether the link ends in an auth code. */
export function isPkce(linkToken: string): boolean {
  return linkToken.startsWith(pkcePrefix)
}

/** GoTrue's tokens have the length of SHA-224. */
function ownSecret(
  key: KeyObject,
  { type, address, code }: Sent,
  digest: 'sha256' | 'sha224',
): string {
  // Six digits repeat across people and purposes, so both are part of what is hashed.
  return createHmac(digest, key).update(`${type}\n${address}\n${code}`).digest('hex')
}

function gotrueSecret({ address, code }: Sent): string {
  return createHash('sha224').update(`${address}${code}`).digest('hex')
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}
