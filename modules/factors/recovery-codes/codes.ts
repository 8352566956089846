/** Generation, parsing and hashing of recovery codes. */
import { createHmac, type KeyObject, randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { NewRecoveryCodes } from '../../../db/factors/recovery-codes.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { withoutSeparators } from '../../../schemas/values/typed-code.ts'

/** Base32 of RFC 4648 §6, in lower case. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
/** Longer ones are never generated, here or in GoTrue. */
const maxCodeLength = 32

/** Distinct codes, by AUTH_MFA_RECOVERY_CODES_COUNT and ..._CODE_LENGTH. */
export function newCodes({ config }: FastifyInstance): string[] {
  const codes = new Set<string>()
  while (codes.size < config.AUTH_MFA_RECOVERY_CODES_COUNT) {
    codes.add(newCode(config.AUTH_MFA_RECOVERY_CODES_CODE_LENGTH))
  }
  return [...codes]
}

function newCode(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** Normalizes a typed code. Throws validation_failed when only separators are left. */
export function readRecoveryCode(typed: string | undefined): string {
  const code = withoutSeparators(typed ?? '').toLowerCase()
  if (code === '') throw validationFailed('Code needs to be non-empty')
  return code
}

/** False for texts that match no code, so that no long text is hashed. */
export const mayBeCode = (code: string) => code.length <= maxCodeLength

/**
 * Hashes the codes: a slow hash that GoTrue can verify, and a keyed digest for a cheap verification here. Throws
 * service_unavailable when the hashing queue is full.
 */
export async function hashCodes(
  { encryption, passwords }: FastifyInstance,
  userId: string,
  codes: readonly string[],
): Promise<Omit<NewRecoveryCodes, 'setId'>> {
  const key = encryption.deriveKey(purpose)
  // In the queue of all password hashes, which bounds concurrency.
  const hashed = await Promise.all(
    codes.map(async (code) => ({
      id: crypto.randomUUID(),
      codeHash: await passwords.hashRecoveryCode(code),
      digest: digestUnder(key, userId, code),
    })),
  )
  return { codes: hashed, keyId: encryption.currentKeyId }
}

const purpose = 'recovery codes'

/** The possible digests of this code: under the current and earlier keys, and in the early format. */
export function computeCodeDigests(
  { encryption }: FastifyInstance,
  userId: string,
  code: string,
): string[] {
  const forms = [code, toLegacyForm(code)]
  const keys = encryption.deriveKeys(purpose)
  return keys.flatMap((key) => forms.map((form) => digestUnder(key, userId, form))).toArray()
}

/** Early codes used Crockford's base32, which reads letters that resemble digits as digits. */
function toLegacyForm(code: string): string {
  return code.replaceAll('o', '0').replace(/[il]/g, '1')
}

function digestUnder(key: KeyObject, userId: string, code: string): string {
  return createHmac('sha256', key).update(`${userId} ${code}`).digest('base64url')
}
