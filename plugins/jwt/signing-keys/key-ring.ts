/** The keys as one replica uses them at one moment: one signs, several verify, and the public ones are shown. */
import type { PublicJwk } from '../../../schemas/signing-key.ts'
import type { Key } from './key-material.ts'

export interface VerificationKey extends Key {
  /** Undefined for a shared secret. */
  publicJwk: PublicJwk | undefined
  /** From then on it verifies nothing and is not shown. */
  retiresAt?: Date | undefined
}

export interface KeyRing {
  signing: Key
  /** The key that a token names, whatever algorithm the token claims. */
  find(kid: string | undefined, alg: string | undefined, now: Date): VerificationKey | undefined
  /** A JWK set (RFC 7517 §5) of public keys. */
  publicKeys(now: Date): { keys: PublicJwk[] }
  /** Of the keys that are shown, and of the one that signs. */
  algorithms(now: Date): string[]
}

export interface KeyRingParts {
  signing: Key
  verifying: VerificationKey[]
  /** AUTH_JWT_SECRET while it is accepted: for tokens that name it, or that name no key we have. */
  secret: Key | undefined
}

export function createKeyRing({ signing, verifying, secret }: KeyRingParts): KeyRing {
  const byId = new Map(verifying.map((key) => [key.kid, key]))
  const fallback = secret && { ...secret, publicJwk: undefined }
  const shown = (now: Date) =>
    verifying.filter((key) => !isRetired(key, now)).flatMap(({ publicJwk }) => publicJwk ?? [])

  return {
    signing,

    find(kid, alg, now) {
      const named = kid === undefined ? undefined : byId.get(kid)
      if (named) return isRetired(named, now) ? undefined : named
      // A key id of somebody else's choosing is usual on tokens made by hand with the secret.
      return alg === 'HS256' ? fallback : undefined
    },

    publicKeys: (now) => ({ keys: shown(now) }),
    algorithms: (now) => [...new Set([signing, ...shown(now)].map(({ alg }) => alg))],
  }
}

function isRetired({ retiresAt }: VerificationKey, now: Date): boolean {
  return retiresAt !== undefined && retiresAt <= now
}
