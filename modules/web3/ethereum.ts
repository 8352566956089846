/** Externally owned Ethereum accounts (EIP-191 personal messages). */
import { validationFailed } from '../../schemas/errors.ts'
import { type Chain, invalid } from './message.ts'

/** 65 bytes in hexadecimal digits, with and without the prefix. */
const signatureLengths = [130, 132]

/** The suffix of signatures of undeployed contract wallets (EIP-6492). */
const contractSuffix = '6492'.repeat(16)

/** Recovery ids, plain and with Bitcoin's offset. */
const recoveryIds = new Map([0, 1, 27, 28].map((v) => [v, v % 27]))

export const ethereum: Chain = {
  name: 'ethereum',
  title: 'Ethereum',
  noStatement: null,
  anyCase: true,

  checkForm({ address, chainId }, signature) {
    if (!signatureLengths.includes(signature.length)) {
      throw validationFailed(
        signature.endsWith(contractSuffix) || signature.length > 132
          ? 'Smart contract wallets (EIP-1271, EIP-6492) are not supported. Sign with an account that has a private key.'
          : 'The signature must be 0x and 130 hexadecimal digits.',
      )
    }
    if (!/^0x[0-9a-f]{40}$/i.test(address)) {
      throw invalid('has no Ethereum address (0x and 40 hexadecimal digits) in its second line')
    }
    if (chainId !== undefined && !/^[1-9]\d{0,77}$/.test(chainId)) {
      throw invalid('must name a positive integer as "Chain ID"')
    }
  },

  async verify(text, { address }, signature) {
    if (!/^0x[0-9a-f]{130}$/i.test(signature)) return false
    const signed = await recoverSigner(text, Buffer.from(signature.slice(2), 'hex'))
    return signed === address.toLowerCase()
  },
}

/** The address of the signing key; undefined for an invalid signature. */
async function recoverSigner(text: Uint8Array, signature: Uint8Array): Promise<string | undefined> {
  const [{ secp256k1 }, { keccak_256 }] = await Promise.all([
    import('@noble/curves/secp256k1.js'),
    import('@noble/hashes/sha3.js'),
  ])
  const recovery = recoveryIds.get(signature[64] ?? -1)
  if (recovery === undefined) return undefined
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`)
  try {
    const { Signature } = secp256k1
    const made = Signature.fromBytes(signature.slice(0, 64), 'compact').addRecoveryBit(recovery)
    // Anyone can compute a second signature with the other half of s, so only one is accepted (EIP-2).
    if (made.hasHighS()) return undefined
    const key = made.recoverPublicKey(keccak_256(Buffer.concat([prefix, text]))).toBytes(false)
    return `0x${Buffer.from(keccak_256(key.slice(1)).slice(-20)).toString('hex')}`
  } catch {
    return undefined
  }
}
