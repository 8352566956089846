/** Parses and verifies a signed message. */
import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import {
  validationFailed,
  walletRejected,
  web3ProviderDisabled,
  web3UnsupportedChain,
} from '../../schemas/errors.ts'
import { isAllowedRedirect } from '../flows/index.ts'
import { ethereum } from './ethereum.ts'
import { type Chain, invalid, parseMessage, type WalletMessage } from './message.ts'

export interface SignedMessage {
  chain?: string | undefined
  message?: string | undefined
  signature?: string | undefined
}

export interface VerifiedMessage {
  chain: Chain
  message: WalletMessage
  text: Buffer
  /** The time after which it is too old to be accepted. */
  usableUntil: Date
}

const [minBytes, maxBytes] = [64, 20_480]

/** Throws web3_provider_disabled when no chain is enabled. */
export function checkEnabled({ config }: FastifyInstance): void {
  if (!config.AUTH_EXTERNAL_WEB3_SOLANA_ENABLED && !config.AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED) {
    throw web3ProviderDisabled()
  }
}

/**
 * Returns the message, signed by the key of its address, intended for this server and currently valid. Throws
 * web3_provider_disabled, web3_unsupported_chain, validation_failed and invalid_grant.
 */
export async function verifyMessage(
  app: FastifyInstance,
  signed: SignedMessage,
  now: Date,
): Promise<VerifiedMessage> {
  const { chain, validityMs } = readChain(app, signed.chain)
  const { text, message } = await verify(chain, signed)
  checkOrigin(app, message)
  checkTimes(message, validityMs, now)
  const usableUntil = new Date(message.issuedAt.getTime() + validityMs)
  return { chain, message, text, usableUntil }
}

function readChain({ config }: FastifyInstance, name = ''): { chain: Chain; validityMs: number } {
  const chain = [ethereum, solana].find((candidate) => candidate.name === name)
  if (!chain) throw web3UnsupportedChain()
  const isEthereum = chain === ethereum
  const isOn = isEthereum
    ? config.AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED
    : config.AUTH_EXTERNAL_WEB3_SOLANA_ENABLED
  if (!isOn) throw web3ProviderDisabled(chain.title)
  const seconds = isEthereum
    ? config.AUTH_EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION
    : config.AUTH_EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION
  return { chain, validityMs: seconds * 1000 }
}

/** Verifies that the key of its address signed the message. */
async function verify(chain: Chain, { message: written = '', signature = '' }: SignedMessage) {
  const text = Buffer.from(written)
  if (text.length < minBytes || text.length > maxBytes) {
    throw validationFailed(`The message must be ${minBytes} to ${maxBytes} bytes long`)
  }
  const message = parseMessage(chain.name, written)
  chain.checkForm(message, signature)
  if (await chain.verify(text, message, signature)) return { text, message }
  throw walletRejected('The signature does not match the address in the message')
}

// Checks that a message is intended for this server and currently valid. In GoTrue's order, so that clients get the
// same first error.

/** Throws invalid_grant unless the page that requested the signature is an allowed redirect target. */
function checkOrigin({ flows }: FastifyInstance, { scheme, domain, uri }: WalletMessage): void {
  const isLocal = uri.hostname === 'localhost'
  if (uri.protocol !== 'https:' && !isLocal) {
    throw walletRejected('The URI of the message must use https')
  }
  if (!isAllowedRedirect(uri.href, flows.redirectRules)) {
    throw walletRejected('The URI of the message is not an allowed redirect')
  }
  // Also for localhost: the wallet shows the domain, so a page of another domain cannot request this signature.
  if (uri.host !== parseHost(domain, uri.protocol)) {
    throw walletRejected('The URI of the message belongs to another domain')
  }
  if (scheme !== undefined && `${scheme.toLowerCase()}:` !== uri.protocol) {
    throw walletRejected('The URI of the message has another scheme than its first line')
  }
  if (isLocal) return
  if (!isAllowedRedirect(`https://${domain}/`, flows.redirectRules)) {
    throw walletRejected('The domain of the message is not an allowed redirect')
  }
}

/** Throws invalid_grant for a message that is not valid yet, or has expired. */
function checkTimes(
  { issuedAt, notBefore, expirationTime }: WalletMessage,
  validityMs: number,
  now: Date,
): void {
  if (notBefore && now < notBefore) {
    throw walletRejected('The message is not valid yet')
  }
  if (expirationTime && now > expirationTime) {
    throw walletRejected('The message has expired')
  }
  const age = now.getTime() - issuedAt.getTime()
  if (age > validityMs) {
    throw walletRejected('The message was issued too long ago')
  }
  if (age < -validityMs) {
    throw walletRejected('The message was issued too far in the future')
  }
}

/** As the URL parser writes it: in lower case, without the default port. */
function parseHost(domain: string, protocol: string): string {
  return URL.parse(`${protocol}//${domain}/`)?.host ?? ''
}

// Solana accounts: the address is the Ed25519 key itself (RFC 8032) in base58.

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The bytes of a base58 text (the alphabet of Bitcoin); undefined for one with other characters. */
export function decodeBase58(text: string): Buffer | undefined {
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return undefined
    value = value * 58n + BigInt(digit)
  }
  const hex = value === 0n ? '' : value.toString(16)
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  return Buffer.concat([
    Buffer.alloc(zeros),
    Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'),
  ])
}

const networks = ['main', 'dev', 'test', 'local'].map((name) => `solana:${name}net`)

const keyBytes = 32

const signatureBytes = 64

const solana: Chain = {
  name: 'solana',
  title: 'Solana',
  noStatement: '',
  anyCase: false,

  checkForm({ address, chainId }, signature) {
    if (!/^[A-Za-z0-9+/_-]{86}(?:==)?$/.test(signature)) {
      throw validationFailed('The signature must be 64 bytes in base64 or base64url')
    }
    if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address) || !decodePublicKey(address)) {
      throw invalid('has no Solana address (32 bytes in base58) in its second line')
    }
    if (chainId && !networks.includes(chainId)) {
      throw invalid(`must name one of ${networks.join(', ')} as "Chain ID"`)
    }
  },

  async verify(text, message, signature) {
    const bytes = Buffer.from(signature, 'base64')
    const key = decodePublicKey(message.address)
    if (!key || bytes.length !== signatureBytes) return false
    const { publicKey, raw } = key
    return [text, offChainMessage(text, message, raw)].some((signed) =>
      verifySignature(null, signed, publicKey, bytes),
    )
  },
}

function decodePublicKey(address: string): { publicKey: KeyObject; raw: Buffer } | undefined {
  const raw = decodeBase58(address)
  if (raw?.length !== keyBytes) return undefined
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  return { publicKey: createPublicKey({ key: jwk, format: 'jwk' }), raw }
}

/**
 * The envelope in which hardware wallets sign text, which cannot be a transaction (Solana off-chain message signing).
 */
function offChainMessage(text: Uint8Array, { domain }: WalletMessage, signer: Buffer): Buffer {
  const [version, format, signers] = [0, 0, 1]
  const padded = Buffer.alloc(32)
  padded.write(domain)
  const length = Buffer.alloc(2)
  length.writeUInt16LE(text.length)
  return Buffer.concat([
    Buffer.from([0xff]),
    Buffer.from('solana offchain'),
    Buffer.from([version]),
    padded,
    Buffer.from([format, signers]),
    signer,
    length,
    text,
  ])
}
