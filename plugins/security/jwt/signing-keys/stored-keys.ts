/**
 * Stored keys and their states: standby (published, not signing yet), current, previous, revoked. A new key is
 * published for longer than the JWKS may be cached before it signs, so that every verifier knows it by then.
 */
import type { JWK } from 'jose'

import type { Db, Trx } from '../../../../db/core/database.ts'
import {
  demoteCurrentKey,
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  notify,
  promoteKey,
  retireKeyAt,
  revokeKey,
  type SigningKeyRow,
} from '../../../../db/keys/signing-keys.ts'
import { validationFailed } from '../../../../schemas/errors.ts'
import type { Encryption } from '../../encryption/index.ts'
import {
  type GeneratedAlgorithm,
  generateJwk,
  getAlgorithm,
  importSigningKey,
  publicPart,
  signingKeyId,
} from './key-material.ts'

/** How long a JWKS may be cached, in seconds; sent as max-age. */
export const jwksMaxAge = 600
/** Seconds for which a key is published before it signs: the cache time, and a margin for intermediate caches. */
export const standbySeconds = jwksMaxAge + 300
/** Seconds for which other replicas may still sign with a demoted key. */
const demotionSlack = 60

export const signingKeysChannel = 'postern_signing_keys'

interface StoredKeysOptions {
  db: Db
  encryption: Encryption
  /** AUTH_JWT_EXP, seconds. */
  tokenSeconds: number
}

export function createStoredKeys(options: StoredKeysOptions) {
  const { db, encryption } = options
  return {
    list: () => listSigningKeys(db),

    /** The private JWK of a standby or current key. Throws DecryptionError. */
    privateJwk({ kid, private_jwk }: SigningKeyRow): JWK {
      return JSON.parse(encryption.decrypt(kid, private_jwk, `Signing key ${kid}`))
    },

    /** Creates the first key, which signs immediately; when several replicas try concurrently, one succeeds. */
    ensureCurrent: (alg: GeneratedAlgorithm, now: Date) =>
      changing(db, async (trx, rows) => {
        if (rows.some(({ state }) => state === 'current')) return
        await add(options, trx, { jwk: await generateJwk(alg), state: 'current' }, now, now)
      }),

    /** Promotes every standby key that is due; the last one becomes current. Idempotent. */
    promoteDue: (now: Date) =>
      changing(db, async (trx, rows) => {
        for (const key of rows) if (isDue(key, now)) await promote(options, trx, key.kid, now)
      }),

    /** Creates a key that signs after `activateAfter` seconds. Returns its id. */
    async rotate(
      alg: GeneratedAlgorithm,
      activateAfter: number,
      record: RecordKeyChange,
      now: Date,
    ): Promise<string> {
      return insertStandbyKey(options, await generateJwk(alg), activateAfter, record, now)
    },

    /** As rotate, with a given private JWK. */
    async importKey(jwk: JWK, activateAfter: number, record: RecordKeyChange, now: Date) {
      if (jwk.kty === 'oct') {
        throw validationFailed('A shared secret belongs in AUTH_JWT_SECRET', 422)
      }
      await importSigningKey(jwk)
      return insertStandbyKey(options, jwk, activateAfter, record, now)
    },

    revoke: (kid: string, alg: GeneratedAlgorithm, record: RecordKeyChange, now: Date) =>
      revoke(options, kid, alg, record, now),

    keepUntil: (kid: string, until: Date) => retireKeyAt(db, kid, until),
  }
}

type Change<T> = (trx: Trx, before: SigningKeyRow[]) => Promise<T>

/** Runs a change under the lock of the keys and notifies the other replicas. */
function changing<T>(db: Db, change: Change<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await lockSigningKeys(trx)
    const result = await change(trx, await listSigningKeys(trx))
    await notify(trx, signingKeysChannel)
    return result
  })
}

/** The same for a change that a user requested. Returns the id of the added or removed key. */
function changingFor(db: Db, record: RecordKeyChange, change: Change<string>): Promise<string> {
  return changing(db, async (trx, before) => {
    const kid = await change(trx, before)
    if (record) await record(trx, { kid, before, after: await listSigningKeys(trx) })
    return kid
  })
}

interface NewKey {
  jwk: JWK
  state: 'standby' | 'current'
}

async function add(
  { encryption }: StoredKeysOptions,
  trx: Trx,
  { jwk, state }: NewKey,
  activatesAt: Date,
  now: Date,
): Promise<string> {
  const kid = await signingKeyId(jwk)
  const key = {
    kid,
    alg: getAlgorithm(jwk),
    state,
    private_jwk: encryption.encrypt(kid, JSON.stringify(jwk)),
    public_jwk: (await publicPart(jwk)) ?? {},
    activates_at: activatesAt,
  }
  if (await insertSigningKey(trx, key, now)) return kid
  throw validationFailed(`There is a signing key ${kid} already`, 422)
}

function insertStandbyKey(
  options: StoredKeysOptions,
  jwk: JWK,
  activateAfter: number,
  record: RecordKeyChange,
  now: Date,
): Promise<string> {
  return changingFor(options.db, record, (trx, rows) => {
    rejectSecondStandby(rows)
    return add(options, trx, { jwk, state: 'standby' }, secondsAfter(now, activateAfter), now)
  })
}

async function promote({ tokenSeconds }: StoredKeysOptions, trx: Trx, kid: string, now: Date) {
  await demoteCurrentKey(trx, secondsAfter(now, tokenSeconds + demotionSlack))
  await promoteKey(trx, kid, now)
}

/**
 * Rejects every token of the key from now on. A current key is replaced immediately, preferably by the standby key,
 * which verifiers already know.
 */
async function revoke(
  options: StoredKeysOptions,
  kid: string,
  alg: GeneratedAlgorithm,
  record: RecordKeyChange,
  now: Date,
): Promise<void> {
  await changingFor(options.db, record, async (trx, rows) => {
    if (!(await revokeKey(trx, kid, now))) {
      throw validationFailed('There is no active signing key with this kid', 404)
    }
    if (rows.find((key) => key.kid === kid)?.state !== 'current') return kid
    const next = rows.find(({ state }) => state === 'standby')
    if (next) await promote(options, trx, next.kid, now)
    else await add(options, trx, { jwk: await generateJwk(alg), state: 'current' }, now, now)
    return kid
  })
}

export function isDue({ state, activates_at }: SigningKeyRow, now: Date): boolean {
  return state === 'standby' && activates_at !== null && activates_at <= now
}

function rejectSecondStandby(rows: SigningKeyRow[]): void {
  const waiting = rows.find(({ state }) => state === 'standby')
  if (!waiting) return
  const from = waiting.activates_at?.toISOString() ?? 'later'
  throw validationFailed(
    `Key ${waiting.kid} is already in standby and signs from ${from}. Revoke it first to create another.`,
    422,
  )
}

function secondsAfter(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000)
}

/** The effect of a change. */
interface KeyChange {
  /** The key that was added or removed. */
  kid: string
  before: SigningKeyRow[]
  after: SigningKeyRow[]
}

/** Records a change in its transaction; absent for changes without an actor. */
export type RecordKeyChange = ((trx: Trx, change: KeyChange) => Promise<void>) | undefined
