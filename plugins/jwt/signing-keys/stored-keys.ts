/**
 * Keys in the database and their lives: standby (shown, not signing yet), current, previous, revoked.
 * A new key is shown for longer than anybody may cache the JWKS before it signs, so every verifier knows it by then.
 */
import type { JWK } from 'jose'

import type { Db, Trx } from '../../../db/database.ts'
import {
  demoteCurrentKey,
  insertSigningKey,
  keepKeyUntil,
  listSigningKeys,
  lockSigningKeys,
  notify,
  promoteKey,
  revokeKey,
  type SigningKeyRow,
} from '../../../db/signing-keys.ts'
import { validationFailed } from '../../../errors.ts'
import type { Encryption } from '../../encryption.ts'
import type { RecordKeyChange } from './key-change.ts'
import {
  algorithmOf,
  type GeneratedAlgorithm,
  generateJwk,
  importSigningKey,
  keyId,
  publicPart,
} from './key-material.ts'

/** How long a JWKS may be cached, in seconds; sent as max-age. */
export const jwksMaxAge = 600
/** Seconds for which a key is shown before it signs: the cache time, and time for a slow cache in between. */
export const standbySeconds = jwksMaxAge + 300
/** Seconds for which other replicas may still sign with a key that was demoted. */
const demotionSlack = 60

export const signingKeysChannel = 'postern_signing_keys'

export interface StoredKeysOptions {
  db: Db
  encryption: Encryption
  /** AUTH_JWT_EXP, seconds. */
  tokenSeconds: number
}

export function createStoredKeys({ db, encryption, tokenSeconds }: StoredKeysOptions) {
  function changing<T>(change: (trx: Trx, before: SigningKeyRow[]) => Promise<T>): Promise<T> {
    return db.transaction().execute(async (trx) => {
      await lockSigningKeys(trx)
      const result = await change(trx, await listSigningKeys(trx))
      await notify(trx, signingKeysChannel)
      return result
    })
  }

  /** As `changing`, of a change that somebody asked for. Returns the id of the key that came or went. */
  function changingFor(
    record: RecordKeyChange,
    change: (trx: Trx, before: SigningKeyRow[]) => Promise<string>,
  ): Promise<string> {
    return changing(async (trx, before) => {
      const kid = await change(trx, before)
      if (record) await record(trx, { kid, before, after: await listSigningKeys(trx) })
      return kid
    })
  }

  async function add(
    trx: Trx,
    jwk: JWK,
    state: 'standby' | 'current',
    activatesAt: Date,
    now: Date,
  ) {
    const kid = await keyId(jwk)
    const inserted = await insertSigningKey(
      trx,
      {
        kid,
        alg: algorithmOf(jwk),
        state,
        private_jwk: encryption.encrypt(kid, JSON.stringify(jwk)),
        public_jwk: (await publicPart(jwk)) ?? {},
        activates_at: activatesAt,
      },
      now,
    )
    if (!inserted) throw validationFailed(`There is a signing key ${kid} already.`, 422)
    return kid
  }

  function putOnStandby(jwk: JWK, activateAfter: number, record: RecordKeyChange, now: Date) {
    return changingFor(record, (trx, rows) => {
      refuseSecondStandby(rows)
      return add(trx, jwk, 'standby', secondsAfter(now, activateAfter), now)
    })
  }

  async function promote(trx: Trx, kid: string, now: Date) {
    await demoteCurrentKey(trx, secondsAfter(now, tokenSeconds + demotionSlack))
    await promoteKey(trx, kid, now)
  }

  return {
    list: () => listSigningKeys(db),

    /** The private JWK of a standby or current key. Throws DecryptionError. */
    privateJwk({ kid, private_jwk }: SigningKeyRow): JWK {
      return JSON.parse(encryption.decrypt(kid, private_jwk, `Signing key ${kid}`))
    },

    /** Makes the first key, which signs at once; of several replicas that try, one does. */
    async ensureCurrent(alg: GeneratedAlgorithm, now: Date): Promise<void> {
      await changing(async (trx, rows) => {
        if (rows.some(({ state }) => state === 'current')) return
        await add(trx, await generateJwk(alg), 'current', now, now)
      })
    },

    /** Lets every standby key whose time has come sign; the last of them stays. Safe to repeat. */
    async promoteDue(now: Date): Promise<void> {
      await changing(async (trx, rows) => {
        for (const key of rows) if (isDue(key, now)) await promote(trx, key.kid, now)
      })
    },

    /** Makes a key that starts to sign after `activateAfter` seconds. Returns its id. */
    async rotate(
      alg: GeneratedAlgorithm,
      activateAfter: number,
      record: RecordKeyChange,
      now: Date,
    ): Promise<string> {
      const jwk = await generateJwk(alg)
      return putOnStandby(jwk, activateAfter, record, now)
    },

    /** As rotate, with a private JWK from elsewhere. */
    async importKey(
      jwk: JWK,
      activateAfter: number,
      record: RecordKeyChange,
      now: Date,
    ): Promise<string> {
      if (jwk.kty === 'oct') {
        throw validationFailed('A shared secret belongs in AUTH_JWT_SECRET.', 422)
      }
      await importSigningKey(jwk)
      return putOnStandby(jwk, activateAfter, record, now)
    },

    /**
     * Every token of the key is refused from now on. The current key is replaced at once,
     * by the standby key where there is one because verifiers know that already.
     */
    async revoke(
      kid: string,
      alg: GeneratedAlgorithm,
      record: RecordKeyChange,
      now: Date,
    ): Promise<void> {
      await changingFor(record, async (trx, rows) => {
        if (!(await revokeKey(trx, kid, now))) {
          throw validationFailed(
            'There is no signing key with this kid that could be revoked.',
            404,
          )
        }
        if (rows.find((key) => key.kid === kid)?.state !== 'current') return kid
        const next = rows.find(({ state }) => state === 'standby')
        if (next) await promote(trx, next.kid, now)
        else await add(trx, await generateJwk(alg), 'current', now, now)
        return kid
      })
    },

    keepUntil: (kid: string, until: Date) => keepKeyUntil(db, kid, until),
  }
}

export function isDue({ state, activates_at }: SigningKeyRow, now: Date): boolean {
  return state === 'standby' && activates_at !== null && activates_at <= now
}

function refuseSecondStandby(rows: SigningKeyRow[]): void {
  const waiting = rows.find(({ state }) => state === 'standby')
  if (!waiting) return
  const from = waiting.activates_at?.toISOString() ?? 'later'
  throw validationFailed(
    `Key ${waiting.kid} is waiting already and signs from ${from}. Revoke it first to make another.`,
    422,
  )
}

function secondsAfter(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000)
}
