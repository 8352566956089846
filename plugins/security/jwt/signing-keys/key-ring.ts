/** The keys of one replica at one time: one signs, several verify, and public ones are published. */
import type { PublicJwk } from '../../../../schemas/signing-key.ts'
import type { Key } from './key-material.ts'

export interface VerificationKey extends Key {
  /** Undefined for a shared secret. */
  publicJwk: PublicJwk | undefined
  /** From then on it verifies nothing and is not published. */
  retiresAt?: Date | undefined
}

export interface KeyRing {
  signing: Key
  /** Signs ID tokens, which clients verify with a public key; undefined when there is none. */
  idTokenSigning: Key | undefined
  /** The key a token names; the token's claimed algorithm does not choose it. */
  find(kid: string | undefined, alg: string | undefined, now: Date): VerificationKey | undefined
  /** A JWK set (RFC 7517 §5) of public keys. */
  publicKeys(now: Date): { keys: PublicJwk[] }
  /** Of the published keys and of the signing one. */
  algorithms(now: Date): string[]
}

interface KeyRingParts {
  signing: Key
  verifying: VerificationKey[]
  /** Signs ID tokens when access tokens are signed with the shared secret. */
  idTokens?: Key | undefined
  /** AUTH_JWT_SECRET while it is accepted: for tokens that name it, or that name no known key. */
  secret: Key | undefined
}

export function createKeyRing({ signing, verifying, idTokens, secret }: KeyRingParts): KeyRing {
  const byId = new Map(verifying.map((key) => [key.kid, key]))
  const fallback = secret && { ...secret, publicJwk: undefined }
  const shown = (now: Date) =>
    verifying.filter((key) => !isRetired(key, now)).flatMap(({ publicJwk }) => publicJwk ?? [])

  return {
    signing,
    idTokenSigning: idTokens ?? (signing.alg === 'HS256' ? undefined : signing),

    find(kid, alg, now) {
      const named = kid === undefined ? undefined : byId.get(kid)
      if (named) return isRetired(named, now) ? undefined : named
      // Tokens that developers sign with the secret often have an unknown key id.
      return alg === 'HS256' ? fallback : undefined
    },

    publicKeys: (now) => ({ keys: shown(now) }),
    algorithms: (now) => [...new Set([signing, ...shown(now)].map(({ alg }) => alg))],
  }
}

function isRetired({ retiresAt }: VerificationKey, now: Date): boolean {
  return retiresAt !== undefined && retiresAt <= now
}
