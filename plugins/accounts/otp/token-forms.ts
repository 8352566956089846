/**
 * How a token is made and stored. Our own form: the link token is a keyed hash of type, address and code, and the database
 * holds a hash of it, so that a leaked table opens no account and no code can be searched offline. GoTrue's form, for
 * while it reads the database, too: a plain hash of address and code, which is the link token and is stored as it is.
 */
import { createHash, createHmac } from 'node:crypto'

import type { TokenRow, TokenType } from '../../../db/one-time-tokens.ts'
import { isSame } from './constant-time.ts'

export interface TokenForms {
  /** Of the hash that makes a link token from a code. */
  tokenKey: Buffer
  /** The same from every encryption key: a code that was sent before the key changed still counts. */
  tokenKeys: readonly Buffer[]
  /** Whether GoTrue reads the database, too. */
  takeover: Readonly<{ isShared: boolean }>
}

interface Sent {
  type: TokenType
  address: string
  code: string
}

const pkcePrefix = 'pkce_'
const gotrueForm = /^(pkce_)?[0-9a-f]{56}$/

/** The token that the link carries, and what is stored of it. */
export function newForm(
  { tokenKey, takeover: { isShared } }: Pick<TokenForms, 'tokenKey' | 'takeover'>,
  sent: Sent,
  pkce: boolean,
): { linkToken: string; stored: string } {
  const secret = isShared ? gotrueSecret(sent) : ownSecret(tokenKey, sent)
  const linkToken = (pkce ? pkcePrefix : '') + secret
  return { linkToken, stored: isShared ? linkToken : sha256(linkToken) }
}

/** What may be stored for this link token. Only one in GoTrue's form is looked for as it is. */
export function hashesOf(linkToken: string): string[] {
  return gotrueForm.test(linkToken) ? [linkToken, sha256(linkToken)] : [sha256(linkToken)]
}

/** Whether this code was sent to the address for the token, in whichever form that is stored. */
export function isOfCode(
  { tokenKeys }: Pick<TokenForms, 'tokenKeys'>,
  { token_type: type, token_hash }: TokenRow,
  address: string,
  code: string,
): boolean {
  const own = tokenKeys.map((key) => ownSecret(key, { type, address, code }))
  const gotrues = gotrueSecret({ type, address, code })
  const ownForms = own.flatMap((secret) => [sha256(secret), sha256(pkcePrefix + secret)])
  const stored = [...ownForms, gotrues, pkcePrefix + gotrues]
  return stored.map((hash) => isSame(hash, token_hash)).includes(true)
}

/** Whether the link ends in an auth code. */
export function isPkce(linkToken: string): boolean {
  return linkToken.startsWith(pkcePrefix)
}

function ownSecret(key: Buffer, { type, address, code }: Sent): string {
  // Six digits repeat across people and purposes, so both are part of what is hashed.
  return createHmac('sha256', key).update(`${type}\n${address}\n${code}`).digest('hex')
}

function gotrueSecret({ address, code }: Sent): string {
  return createHash('sha224').update(`${address}${code}`).digest('hex')
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}
