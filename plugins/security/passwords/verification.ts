/** Verifies passwords against stored hashes, or against dummy ones. */
import type { createDummyHashes } from './dummy-hashes.ts'
import type { createHashQueue } from './hash-queue.ts'
import { isSupportedHash, verifyHash } from './hashes.ts'

/** A user who may have a password. */
interface Owner {
  id: string
  /** A hash, or one encrypted by GoTrue. */
  encrypted_password: string | null
}

interface VerificationDeps {
  /** The hash in a stored value; undefined when it cannot be decrypted. */
  open: (id: string, stored: string) => string | undefined
  queue: ReturnType<typeof createHashQueue>
  dummies: ReturnType<typeof createDummyHashes>
}

export function createVerification({ open, queue, dummies }: VerificationDeps) {
  /** Undefined when no password can match. */
  function decryptHash(owner: Owner | undefined): string | undefined {
    const stored = owner?.encrypted_password
    const opened = stored ? open(owner.id, stored) : undefined
    return opened && isSupportedHash(opened) ? opened : undefined
  }

  return {
    /** Verifies against the stored hash; false for a user without one. */
    async verify(owner: Owner, password: string): Promise<boolean> {
      const hash = decryptHash(owner)
      return hash !== undefined && queue.run(() => verifyHash(hash, password))
    },

    /** Without an account, verifies a dummy hash, so that an unknown account takes as long as a known one. */
    async verifyFor(account: string, owner: Owner | undefined, password: string) {
      dummies.renewWhenOld()
      const hash = decryptHash(owner)
      if (hash !== undefined) return queue.run(() => verifyHash(hash, password))
      await queue.run(() => verifyHash(dummies.dummyFor(account), password))
      return false
    },
  }
}
