/** Generates or replaces recovery codes, and reads and hashes them. */
import { createHmac, type KeyObject, randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import {
  findRecoveryCodeSet,
  insertRecoveryCodeSet,
  type NewRecoveryCodes,
  replaceRecoveryCodes,
} from '../../../db/factors/recovery-codes.ts'
import type { SessionAuth } from '../../../plugins/security/bearer-auth/index.ts'
import { recoveryCodesNotFound, validationFailed } from '../../../schemas/errors.ts'
import { withoutSeparators } from '../../../schemas/values/typed-code.ts'
import { recordAccess, requireFreshProof } from '../../access/index.ts'
import type { AuditContext } from '../../audit/index.ts'
import { requireFactorSlot } from '../enroll.ts'
import { requireAal2ForCodes, requireCodes, requireNoCodes, requireOtherFactor } from './rules.ts'

/** New codes in plain and stored form. */
interface PreparedCodes {
  codes: string[]
  stored: Omit<NewRecoveryCodes, 'setId'>
}

/** The response with a new set. */
interface GeneratedCodes {
  id: string
  friendly_name: string
  codes: string[]
}

const defaultName = 'Recovery codes'

/**
 * Generates and hashes codes outside of a transaction. Checks the preconditions of the current user first, so that no
 * codes are hashed for a request that will be rejected.
 */
export async function prepareRecoveryCodes(
  app: FastifyInstance,
  auth: SessionAuth,
  purpose: 'generate' | 'regenerate',
  now: Date,
): Promise<PreparedCodes> {
  requireAal2ForCodes(app, auth, now)
  if (purpose === 'generate') requireNoCodes(auth.user)
  else requireCodes(auth.user)
  const codes = newCodes(app)
  return { codes, stored: await hashCodes(app, auth.user.id, codes) }
}

/**
 * Inserts the set as a verified factor. The caller must have locked the session. Throws insufficient_aal,
 * mfa_verified_factor_exists, mfa_factor_name_conflict, too_many_enrolled_mfa_factors, mfa_recovery_codes_sole_factor
 * or reauthentication_needed.
 */
export async function generateRecoveryCodes(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  { codes, stored, name }: PreparedCodes & { name: string | undefined },
  at: AuditContext,
): Promise<GeneratedCodes> {
  const { now } = at
  const { user } = auth
  requireAal2ForCodes(app, auth, now)
  requireNoCodes(user)
  const friendly_name = name?.trim() ? name : defaultName
  await requireFactorSlot(app, trx, user, { name: friendly_name, phone: null }, now)
  requireOtherFactor(app, user)
  await requireFreshProof(app, trx, auth, { change: 'factor' }, now)
  const [factorId, setId] = [crypto.randomUUID(), crypto.randomUUID()]
  const set = { ...stored, userId: user.id, name: friendly_name, factorId, setId }
  await insertRecoveryCodeSet(trx, set, now)
  const made = { factorId, count: codes.length, how: 'generated' } as const
  await recordGenerated(app, trx, auth, made, at)
  return { id: factorId, friendly_name, codes }
}

/**
 * Replaces all codes and resets failures and lock. The caller must have locked the session. Throws insufficient_aal,
 * mfa_factor_not_found or reauthentication_needed.
 */
export async function regenerateRecoveryCodes(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  { codes, stored }: PreparedCodes,
  at: AuditContext,
): Promise<GeneratedCodes> {
  const { now } = at
  requireAal2ForCodes(app, auth, now)
  const set = await findRecoveryCodeSet(trx, auth.user.id)
  if (!set) throw recoveryCodesNotFound()
  await requireFreshProof(app, trx, auth, { change: 'factor' }, now)
  const { id: setId, factorId, name } = set
  await replaceRecoveryCodes(trx, { ...stored, setId }, now)
  const made = { factorId, count: codes.length, how: 'regenerated' } as const
  await recordGenerated(app, trx, auth, made, at)
  return { id: factorId, friendly_name: name ?? '', codes }
}

interface Made {
  factorId: string
  count: number
  how: 'generated' | 'regenerated'
}

/** New codes give access like a new factor; replaced ones are no new factor. */
async function recordGenerated(
  app: FastifyInstance,
  trx: Trx,
  { user }: SessionAuth,
  { factorId, count, how }: Made,
  { ip, now }: AuditContext,
): Promise<void> {
  const enrolled = { factor_id: factorId, factor_type: 'recovery_code' } as const
  if (how === 'generated') await app.events.record(trx, 'factor.enrolled', user.id, enrolled, now)
  const grant = { kind: 'recovery_codes', how, factorId, count, ip } as const
  await recordAccess(app, trx, { user, grant }, now)
}

/** Base32 of RFC 4648 §6, in lower case. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
/** Longer ones are never generated, here or in GoTrue. */
const maxCodeLength = 32

/** Distinct codes, by AUTH_MFA_RECOVERY_CODES_COUNT and ..._CODE_LENGTH. */
function newCodes({ config }: FastifyInstance): string[] {
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
async function hashCodes(
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
