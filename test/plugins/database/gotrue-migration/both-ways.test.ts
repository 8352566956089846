/**
 * Compatibility in both directions: GoTrue’s rows are accepted here and ours there, by its statements on one side and
 * HTTP on the other.
 */
import assert from 'node:assert/strict'
import { createCipheriv, randomBytes, scryptSync } from 'node:crypto'
import { before, suite, test } from 'node:test'

import { hashSync as argon2Hash } from '@node-rs/argon2'
import { hashSync as bcryptHash } from '@node-rs/bcrypt'
import type pg from 'pg'

import type { Session } from '../../../../schemas/session.ts'
import { providerEnv } from '../../../support/external.ts'
import { addTotp, challenge, stepUp, totpCode } from '../../../support/factors/factors.ts'
import { gotrueSealed } from '../../../support/gotrue/encryption.ts'
import { type GotrueEncrypted, gotrueEncrypted } from '../../../support/gotrue/migrated-server.ts'
import { read, readerTables, run } from '../../../support/gotrue/reader.ts'
import { openSession, refresh as refreshInGotrue } from '../../../support/gotrue/sessions.ts'
import {
  addIdentity,
  addUser,
  findByEmail,
  isCode,
  mailTo,
  openLink,
} from '../../../support/gotrue/users.ts'
import { emailAfter } from '../../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../../support/messages/mail-links.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import {
  call,
  changeUser,
  getUser,
  refresh,
  statusAndCode,
  verify,
} from '../../../support/requests.ts'
import {
  anonymousUser,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signedIn,
  signIn,
} from '../../../support/users.ts'

const key = randomBytes(32)

/** Firebase scrypt: the derived key encrypts a signing key, which is stored. */
function firebaseHash(): string {
  const [salt, separator, signer] = [randomBytes(10), randomBytes(2), randomBytes(64)]
  const options = { N: 2 ** 10, r: 8, p: 1 }
  const derived = scryptSync(password, Buffer.concat([salt, separator]), 32, options)
  const cipher = createCipheriv('aes-256-ctr', derived, Buffer.alloc(16))
  const [ss, sk, ...rest] = [separator, signer, salt, cipher.update(signer)].map((part) =>
    part.toString('base64'),
  )
  return `$fbscrypt$v=1,n=10,r=8,p=1,ss=${ss},sk=${sk}$${rest.join('$')}`
}

const argon2 = (algorithm: 1 | 2) =>
  argon2Hash(password, { algorithm, memoryCost: 8192, timeCost: 2, parallelism: 1 })

const hashes: Record<string, () => string> = {
  'bcrypt of cost 4': () => bcryptHash(password, 4),
  'bcrypt of cost 10': () => bcryptHash(password, 10),
  'bcrypt of cost 12': () => bcryptHash(password, 12),
  argon2i: () => argon2(1),
  argon2id: () => argon2(2),
  'scrypt of Firebase': firebaseHash,
}

suite('database shared with GoTrue', () => {
  const ending = endingOfSuite()
  let server: GotrueEncrypted
  let pool: pg.Pool
  before(async () => {
    server = await gotrueEncrypted(ending, {
      AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `k1:${key.toString('base64url')}`,
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      ...providerEnv('github', 'https://github.example'),
    })
    pool = server.pool
  })

  const newUser = (columns: object = {}) => {
    const email = newAddress()
    const confirmed = { email, email_confirmed_at: new Date() }
    return addUser(pool, { ...confirmed, ...columns }).then((id) => ({ id, email }))
  }

  for (const [name, hash] of Object.entries(hashes)) {
    test(`accepts a password hashed with ${name} and stores a hash that GoTrue accepts`, async () => {
      const { email } = await newUser({ encrypted_password: hash() })

      await signedIn(server.app, email)

      const wrong = await signIn(server.app, { email, password: 'another one' })
      assert.deepEqual(statusAndCode(wrong), [400, 'invalid_credentials'])
      const [{ encrypted_password } = {}] = await findByEmail(pool, email)
      assert.match(String(encrypted_password), /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/)
      await signedIn(server.app, email)
    })
  }

  test('accepts a password by phone', async () => {
    const phone = newNumber()
    const hash = bcryptHash(password, 4)
    await addUser(pool, { phone, phone_confirmed_at: new Date(), encrypted_password: hash })
    const response = await signIn(server.app, { phone })
    assert.equal(response.statusCode, 200, response.body)
  })

  const shut: [what: string, columns: object, outcome: [number, string]][] = [
    ['banned', { banned_until: new Date(Date.now() + 3_600_000) }, [400, 'user_banned']],
    ['unconfirmed', { email_confirmed_at: null }, [400, 'email_not_confirmed']],
    ['managed by SSO', { is_sso_user: true }, [400, 'invalid_credentials']],
    ['invited', { email_confirmed_at: null, invited_at: new Date() }, [400, 'email_not_confirmed']],
  ]
  for (const [what, columns, outcome] of shut) {
    test(`rejects a user who is ${what}, with the correct password`, async () => {
      const encrypted_password = bcryptHash(password, 4)
      const { email } = await newUser({ encrypted_password, ...columns })
      assert.deepEqual(statusAndCode(await signIn(server.app, { email })), outcome)
    })
  }

  test('does not find a soft-deleted user and allows the email again', async () => {
    const email = newAddress()
    const digest = randomBytes(32).toString('base64url')
    await addUser(pool, { email: digest, deleted_at: new Date(), encrypted_password: null })
    assert.deepEqual(statusAndCode(await signIn(server.app, { email })), [
      400,
      'invalid_credentials',
    ])
    await confirmedUser(server, email)
  })

  test('refreshes the session of an anonymous user', async () => {
    const id = await addUser(pool, { is_anonymous: true, raw_app_meta_data: '{}' })
    const token = await openSession(pool, id, 'row')
    const response = await refresh(server.app, token)
    assert.equal(response.json().user.is_anonymous, true, response.body)
  })

  test('returns all identities of a user', async () => {
    const { id, email } = await newUser({ encrypted_password: bcryptHash(password, 4) })
    await addIdentity(pool, id, 'github', '4711', { sub: '4711', email, email_verified: true })
    const { user } = await signedIn(server.app, email)
    const providers = user.identities?.map(({ provider }) => provider)
    assert.deepEqual(providers, ['email', 'github'])
  })

  for (const [name, stored] of Object.entries({
    plain: (_id: string, secret: string) => secret,
    encrypted: (id: string, secret: string) => gotrueSealed('k1', key, id, secret),
  })) {
    test(`verifies a TOTP factor whose secret is ${name}`, async () => {
      const { id: userId, email } = await newUser({ encrypted_password: bcryptHash(password, 4) })
      const [id, secret] = [crypto.randomUUID(), 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP']
      await run(
        pool,
        `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
          values ($1, $2, 'phone app', 'totp', 'verified', now(), now(), $3)`,
        id,
        userId,
        stored(id, secret),
      )
      const session = await signedIn(server.app, email)
      const app = { id, secret, code: (away = 0) => totpCode(secret, away) }
      const verified = await stepUp(server.app, session, app)
      assert.equal((await refresh(server.app, verified.refresh_token)).statusCode, 200)
    })
  }

  for (const form of ['row', 'counter'] as const) {
    test(`refreshes sessions with ${form} tokens alternately on both servers`, async () => {
      const { id } = await newUser()
      for (let session = 0; session < 3; session++) {
        let token = await openSession(pool, id, form)
        for (let turn = 0; turn < 2; turn++) {
          const here: Session = (await refresh(server.app, token)).json()
          assert.equal((await getUser(server.app, here)).statusCode, 200)
          token = String(await refreshInGotrue(pool, here.refresh_token))
          assert.notEqual(token, 'undefined')
        }
      }
    })
  }

  test('rejects a legacy token issued before a step-up in GoTrue after the reuse interval', async () => {
    const { id } = await newUser()
    const before: Session = (await refresh(server.app, await openSession(pool, id, 'row'))).json()
    await stepUp(server.app, before, await addTotp(server.app, before))
    assert.equal(await refreshInGotrue(pool, before.refresh_token), undefined)
    const soon = await refresh(server.app, before.refresh_token)
    assert.equal(soon.statusCode, 200, soon.body)
    await pool.query(
      `update auth.sessions set refreshed_at = refreshed_at - interval '11 s' where user_id = $1`,
      [id],
    )
    const late = await refresh(server.app, before.refresh_token)
    assert.deepEqual(statusAndCode(late), [400, 'refresh_token_already_used'])
  })

  test('refreshes a session of Postern in GoTrue and then in Postern', async () => {
    const user = await confirmedUser(server)
    const there = await refreshInGotrue(pool, user.refresh_token)
    const here = await refresh(server.app, String(there))
    assert.equal(here.statusCode, 200, here.body)
    const [session] = await read(pool, 'sessions', 'user_id = $1', user.user.id)
    const claims = await read(pool, 'mfa_amr_claims', 'session_id = $1', session?.id)
    assert.equal(claims.length, 1)
  })

  for (const type of ['confirmation_token', 'recovery_token'] as const) {
    const kind = type === 'recovery_token' ? 'recovery' : 'signup'

    test(`accepts a ${kind} email of GoTrue by link and code`, async () => {
      for (const prefix of ['', 'pkce_']) {
        const byCode = await newUser(kind === 'signup' ? { email_confirmed_at: null } : {})
        const { code } = await mailTo(pool, byCode.id, type, byCode.email, prefix)
        const typed = await verify(server.app, { type: kind, email: byCode.email, token: code })
        assert.equal(typed.statusCode, 200, typed.body)
      }
      const byLink = await newUser(kind === 'signup' ? { email_confirmed_at: null } : {})
      const { hash } = await mailTo(pool, byLink.id, type, byLink.email)
      const opened = await call(server.app, `/verify?type=${kind}&token=${hash}`)
      assert.match(String(opened.headers.location), /#access_token=/)
      assert.equal(await openLink(pool, hash), undefined)
    })
  }

  test('GoTrue accepts a recovery email of Postern once', async () => {
    const email = newAddress()
    const { user } = await confirmedUser(server, email)
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const hash = String(new URL(linkIn(message)).searchParams.get('token'))
    assert.equal(await isCode(pool, email, codeIn(message), 'recovery_token'), true)

    assert.equal(await openLink(pool, hash), user.id)

    assert.equal(await openLink(pool, hash), undefined)
    for (const verification of [{ token_hash: hash }, { email, token: codeIn(message) }]) {
      const again = await verify(server.app, { type: 'recovery', ...verification })
      assert.deepEqual(statusAndCode(again), [403, 'otp_expired'])
    }
  })

  test('writes no null that GoTrue cannot read', async () => {
    const email = newAddress()
    const user = await confirmedUser(server, email)
    const factor = await addTotp(server.app, user)
    await challenge(server.app, user, factor.id)
    const flow = { code_challenge: 'x'.repeat(43), code_challenge_method: 's256' }
    await emailAfter(server, email, () => call(server.app, '/recover', { email, ...flow }))
    await changeUser(server.app, user.access_token, { email: newAddress(), ...flow })
    await anonymousUser(server.app)
    const started = await call(server.app, '/authorize?provider=github')
    assert.equal(started.statusCode, 302, started.body)

    for (const table of readerTables) {
      const rows = await read(pool, table, 'true')
      assert.ok(rows.length > 0, table)
    }
  })

  test('GoTrue reads users with their factors', async () => {
    const email = newAddress()
    const user = await confirmedUser(server, email)
    await stepUp(server.app, user, await addTotp(server.app, user))

    const [row] = await findByEmail(pool, email)

    assert.equal(row?.id, user.user.id)
    const identities = await read(pool, 'identities', 'user_id = $1', user.user.id)
    const factors = await read(pool, 'mfa_factors', 'user_id = $1', user.user.id)
    assert.deepEqual([identities.length, factors.length], [1, 1])
    assert.match(String(factors[0]?.secret), /^[A-Z2-7]{32}$/)
  })
})
