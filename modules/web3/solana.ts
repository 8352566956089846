/** Solana accounts: the address is the Ed25519 key itself (RFC 8032) in base58. */
import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto'

import { validationFailed } from '../../schemas/errors.ts'
import { decodeBase58 } from './base58.ts'
import type { Chain } from './chain.ts'
import { invalid, type WalletMessage } from './message.ts'

const networks = ['main', 'dev', 'test', 'local'].map((name) => `solana:${name}net`)

const keyBytes = 32
const signatureBytes = 64

export const solana: Chain = {
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
