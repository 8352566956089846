/** Recovery codes of GoTrue 2.197 work here and vice versa; codes of an early version stay valid. */
import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { suite, test } from 'node:test'

import { hashSync, verifySync } from '@node-rs/argon2'
import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { encryptionKeyId } from '../../../../plugins/security/encryption/keys.ts'
import { query } from '../../../db/sql.ts'
import { encryptionKey } from '../../../support/config.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { everyFactor, send, tokenClaims, userWithTotp } from '../../../support/factors/factors.ts'
import { makeCodes, remaining, url, useCode } from '../../../support/factors/recovery-codes.ts'
import { gotrueEncrypted } from '../../../support/gotrue/migrated-server.ts'
import { addUser } from '../../../support/gotrue/users.ts'
import { getUser, statusAndCode } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { newAddress, password, signedIn } from '../../../support/users.ts'

const wrong = [422, 'mfa_verification_failed']

suite('GoTrue recovery codes', () => {
  test('verifies codes hashed by GoTrue with any parameters and consumes them in its tables', async (t) => {
    const { app, pool } = await gotrueEncrypted(t, everyFactor)
    const [email, codes] = [newAddress(), ['k2mqx4tn7abcdefg', 'abcdefghijklm']] as const
    const hash = bcryptHash(password, 4)
    const id = await addUser(pool, {
      email,
      email_confirmed_at: new Date(),
      encrypted_password: hash,
    })
    const [totp, factor, set] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
    const options = [
      { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
      { memoryCost: 8192, timeCost: 3, parallelism: 2 },
    ]
    await pool.query(
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
        values ($1, $3, 'App', 'totp', 'verified', now(), now(), 'JBSWY3DPEHPK3PXP'),
          ($2, $3, 'Recovery codes', 'recovery_code', 'verified', now(), now(), '')`,
      [totp, factor, id],
    )
    await pool.query(
      'insert into auth.mfa_recovery_code_sets (id, user_id, mfa_factor_id) values ($1, $2, $3)',
      [set, id, factor],
    )
    for (const [at, code] of codes.entries()) {
      await pool.query(
        `insert into auth.mfa_recovery_codes (id, mfa_recovery_code_set_id, code_hash)
          values (gen_random_uuid(), $1, $2)`,
        [set, hashSync(code, options[at])],
      )
    }

    const aal1 = await signedIn(app, email)
    assert.deepEqual(statusAndCode(await useCode(app, aal1, 'a'.repeat(16))), wrong)
    let session: { access_token: string } = aal1
    for (const code of codes) {
      const steppedUp = await useCode(app, session, code)
      assert.equal(steppedUp.statusCode, 200, steppedUp.body)
      session = steppedUp.json()
      assert.deepEqual(statusAndCode(await useCode(app, session, code)), wrong)
    }
    assert.deepEqual((await send(app, 'GET', url, session)).json(), {
      id: factor,
      type: 'recovery_code',
      total: 2,
      remaining: 0,
    })
    const { rows } = await pool.query(
      'select consumed_at is not null as consumed from auth.mfa_recovery_codes',
    )
    assert.deepEqual(rows, [{ consumed: true }, { consumed: true }])
  })

  test('generates codes and amr entries that GoTrue accepts', async (t) => {
    const { app, pool } = await gotrueEncrypted(t, everyFactor)
    const { email, session } = await userWithTotp(app)
    const { id, codes }: { id: string; codes: string[] } = (await makeCodes(app, session)).json()
    const [first = '', second = ''] = codes
    const steppedUp = (await useCode(app, await signedIn(app, email), first)).json()
    const { session_id } = tokenClaims(steppedUp)
    const { rows } = await pool.query(
      `select code_hash, consumed_at from auth.mfa_recovery_codes codes
        join auth.mfa_recovery_code_sets sets on sets.id = mfa_recovery_code_set_id
        join auth.mfa_factors factors on factors.id = mfa_factor_id
        where factors.id = $1 and factor_type = 'recovery_code' and status = 'verified'`,
      [id],
    )
    const locking = (code: string) => rows.filter(({ code_hash }) => verifySync(code_hash, code))
    assert.ok(locking(first)[0]?.consumed_at)
    assert.equal(locking(second)[0]?.consumed_at, null)
    const { rows: methods } = await pool.query(
      'select authentication_method as method from auth.mfa_amr_claims where session_id = $1 order by 1',
      [session_id],
    )
    assert.deepEqual(methods, [{ method: 'mfa/recovery_code' }, { method: 'password' }])
  })
})

suite('recovery codes of an early version', () => {
  const early = '7k2mq9x401'
  const key = Buffer.from(encryptionKey, 'base64url')

  /** What a former migration made of them: a factor whose codes have digests only, and a session stepped up by one. */
  async function earlyDatabase(t: Parameters<typeof build>[0]) {
    const database = await cloneDatabase()
    t.after(database.drop)
    const before = await build(t, { env: everyFactor, database })
    const { email, session } = await userWithTotp(before.app)
    const steppedUp = await signedIn(before.app, email)
    const digest = createHmac(
      'sha256',
      Buffer.from(hkdfSync('sha256', key, '', 'recovery codes', 32)),
    )
      .update(`${session.user.id} ${early}`)
      .digest('base64url')
    const [factor, set, first, second] = Array.from({ length: 4 }, () => crypto.randomUUID())
    const unmatchable = hashSync(crypto.randomUUID())
    const statements: [text: string, values: unknown[]][] = [
      [
        `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
          values ($1, $2, 'Recovery codes', 'recovery_code', 'verified', now(), now(), '')`,
        [factor, session.user.id],
      ],
      [
        'insert into auth.mfa_recovery_code_sets (id, user_id, mfa_factor_id) values ($1, $2, $3)',
        [set, session.user.id, factor],
      ],
      [
        `insert into auth.mfa_recovery_codes (id, mfa_recovery_code_set_id, code_hash)
          values ($1, $3, $4), ($2, $3, $4)`,
        [first, second, set, unmatchable],
      ],
      [
        `insert into auth.postern_recovery_code_digests (code_id, digest, key_id, is_early)
          values ($1, $2, $3, true), ($4, 'another', null, true)`,
        [first, digest, encryptionKeyId(key), second],
      ],
      [
        `update auth.sessions set aal = 'aal2', factor_id = $2 where id = $1`,
        [tokenClaims(steppedUp).session_id, factor],
      ],
      [
        `insert into auth.mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
          values (gen_random_uuid(), $1, 'mfa/recovery_code', now(), now())`,
        [tokenClaims(steppedUp).session_id],
      ],
    ]
    await query(database.url, ...statements.map(([text, values]) => ({ text, values })))
    return { database, email, session, raised: steppedUp }
  }

  test('are a factor and are accepted once, with or without hyphens', async (t) => {
    const { database, email, session } = await earlyDatabase(t)
    const { app } = await build(t, { env: everyFactor, database })
    const { factors } = (await getUser(app, session)).json()
    assert.deepEqual([factors.length, factors.at(-1).factor_type], [2, 'recovery_code'])
    const aal1 = await signedIn(app, email)
    assert.equal(await remaining(app, aal1), 2)
    const steppedUp = await useCode(app, aal1, '7K2MQ-9X4OL')
    assert.equal(steppedUp.statusCode, 200, steppedUp.body)
    assert.deepEqual(statusAndCode(await useCode(app, steppedUp.json(), early)), wrong)
    assert.equal(await remaining(app, aal1), 1)
  })

  test('keep their aal2 sessions, which drop to aal1 when the codes are deleted', async (t) => {
    const { database, session, raised: steppedUp } = await earlyDatabase(t)
    const { app } = await build(t, { env: everyFactor, database })
    const id = tokenClaims(steppedUp).session_id
    const stored = async () => {
      const { rows } = await app.pool.query(
        `select aal, array(select authentication_method from auth.mfa_amr_claims
          where session_id = sessions.id order by 1) as amr from auth.sessions where id = $1`,
        [id],
      )
      return rows
    }
    assert.deepEqual(await stored(), [{ aal: 'aal2', amr: ['mfa/recovery_code', 'password'] }])
    assert.equal((await send(app, 'DELETE', url, session)).statusCode, 200)
    assert.deepEqual(await stored(), [{ aal: 'aal1', amr: ['password'] }])
  })
})
