/** What GoTrue wrote is good here, and what is written here is good there: its rows and statements on one side, HTTP on ours. */
import assert from 'node:assert/strict'
import { createCipheriv, randomBytes, scryptSync } from 'node:crypto'
import { before, suite, test } from 'node:test'

import { hashSync as argon2Hash } from '@node-rs/argon2'
import { hashSync as bcryptHash } from '@node-rs/bcrypt'
import type pg from 'pg'

import type { Session } from '../../schemas/session.ts'
import { endingOfSuite } from '../support/ending.ts'
import { providerEnv } from '../support/external.ts'
import { addTotp, challenge, codeOf, prove } from '../support/factors.ts'
import { gotrueSealed } from '../support/gotrue/encryption.ts'
import {
  addIdentity,
  addUser,
  findByEmail,
  isCode,
  mailTo,
  openLink,
} from '../support/gotrue/people.ts'
import { read, run, tablesItReads } from '../support/gotrue/reader.ts'
import { openSession, refresh as refreshThere } from '../support/gotrue/sessions.ts'
import { type TakenOver, takenOver } from '../support/gotrue/taken-over.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn, linkIn } from '../support/mail-links.ts'
import {
  anonymousPerson,
  confirmedPerson,
  newAddress,
  newNumber,
  password,
  signedIn,
  signIn,
} from '../support/people.ts'
import { call, changeUser, getUser, outcomeOf, refresh, verify } from '../support/requests.ts'

const key = randomBytes(32)

/** Firebase's form of scrypt: the key encrypts a signing key, and that is what is kept. */
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

suite('a database that GoTrue filled, and may have back', () => {
  const ending = endingOfSuite()
  let server: TakenOver
  let pool: pg.Pool
  before(async () => {
    server = await takenOver(ending, {
      AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `k1:${key.toString('base64url')}`,
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      ...providerEnv('github', 'https://github.example'),
    })
    pool = server.pool
  })

  const someone = (columns: object = {}) => {
    const email = newAddress()
    const confirmed = { email, email_confirmed_at: new Date() }
    return addUser(pool, { ...confirmed, ...columns }).then((id) => ({ id, email }))
  }

  for (const [name, hash] of Object.entries(hashes)) {
    test(`a password kept as ${name} opens the account, here and after that there`, async () => {
      const { email } = await someone({ encrypted_password: hash() })

      await signedIn(server.app, email)

      const wrong = await signIn(server.app, { email, password: 'another one' })
      assert.deepEqual(outcomeOf(wrong), [400, 'invalid_credentials'])
      const [{ encrypted_password } = {}] = await findByEmail(pool, email)
      assert.match(String(encrypted_password), /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/)
      await signedIn(server.app, email)
    })
  }

  test('a password by phone', async () => {
    const phone = newNumber()
    const hash = bcryptHash(password, 4)
    await addUser(pool, { phone, phone_confirmed_at: new Date(), encrypted_password: hash })
    const response = await signIn(server.app, { phone })
    assert.equal(response.statusCode, 200, response.body)
  })

  const shut: [what: string, columns: object, outcome: [number, string]][] = [
    ['banned', { banned_until: new Date(Date.now() + 3_600_000) }, [400, 'user_banned']],
    ['unconfirmed', { email_confirmed_at: null }, [400, 'email_not_confirmed']],
    ['managed by their company', { is_sso_user: true }, [400, 'invalid_credentials']],
    ['invited', { email_confirmed_at: null, invited_at: new Date() }, [400, 'email_not_confirmed']],
  ]
  for (const [what, columns, outcome] of shut) {
    test(`somebody ${what} stays out, right password and all`, async () => {
      const encrypted_password = bcryptHash(password, 4)
      const { email } = await someone({ encrypted_password, ...columns })
      assert.deepEqual(outcomeOf(await signIn(server.app, { email })), outcome)
    })
  }

  test('somebody deleted but kept is not found, and their address is free', async () => {
    const email = newAddress()
    const digest = randomBytes(32).toString('base64url')
    await addUser(pool, { email: digest, deleted_at: new Date(), encrypted_password: null })
    assert.deepEqual(outcomeOf(await signIn(server.app, { email })), [400, 'invalid_credentials'])
    await confirmedPerson(server, email)
  })

  test('somebody anonymous goes on in their session', async () => {
    const id = await addUser(pool, { is_anonymous: true, raw_app_meta_data: '{}' })
    const token = await openSession(pool, id, 'row')
    const response = await refresh(server.app, token)
    assert.equal(response.json().user.is_anonymous, true, response.body)
  })

  test('somebody with several identities is shown with all of them', async () => {
    const { id, email } = await someone({ encrypted_password: bcryptHash(password, 4) })
    await addIdentity(pool, id, 'github', '4711', { sub: '4711', email, email_verified: true })
    const { user } = await signedIn(server.app, email)
    const providers = user.identities?.map(({ provider }) => provider)
    assert.deepEqual(providers, ['email', 'github'])
  })

  for (const [name, stored] of Object.entries({
    plain: (_id: string, secret: string) => secret,
    encrypted: (id: string, secret: string) => gotrueSealed('k1', key, id, secret),
  })) {
    test(`an authenticator app whose secret is ${name} proves who it is`, async () => {
      const { id: userId, email } = await someone({ encrypted_password: bcryptHash(password, 4) })
      const [id, secret] = [crypto.randomUUID(), 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP']
      await run(
        pool,
        `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
          values ($1, $2, 'phone app', 'totp', 'verified', now(), now(), $3)`,
        ...[id, userId, stored(id, secret)],
      )
      const session = await signedIn(server.app, email)
      const app = { id, secret, code: (away = 0) => codeOf(secret, away) }
      const proven = await prove(server.app, session, app)
      assert.equal((await refresh(server.app, proven.refresh_token)).statusCode, 200)
    })
  }

  for (const form of ['row', 'counter'] as const) {
    test(`several sessions whose tokens are of the form ${form} go from one server to the other and back`, async () => {
      const { id } = await someone()
      for (let session = 0; session < 3; session++) {
        let token = await openSession(pool, id, form)
        for (let turn = 0; turn < 2; turn++) {
          const here: Session = (await refresh(server.app, token)).json()
          assert.equal((await getUser(server.app, here)).statusCode, 200)
          token = String(await refreshThere(pool, here.refresh_token))
          assert.notEqual(token, 'undefined')
        }
      }
    })
  }

  test('a token in a row from before a second factor opens nothing afterwards, here or there', async () => {
    const { id } = await someone()
    const before: Session = (await refresh(server.app, await openSession(pool, id, 'row'))).json()
    await prove(server.app, before, await addTotp(server.app, before))
    assert.equal(await refreshThere(pool, before.refresh_token), undefined)
    const late = await refresh(server.app, before.refresh_token)
    assert.deepEqual(outcomeOf(late), [400, 'refresh_token_already_used'])
  })

  test('a session opened here goes on there, and back here', async () => {
    const person = await confirmedPerson(server)
    const there = await refreshThere(pool, person.refresh_token)
    const here = await refresh(server.app, String(there))
    assert.equal(here.statusCode, 200, here.body)
    const [session] = await read(pool, 'sessions', 'user_id = $1', person.user.id)
    const claims = await read(pool, 'mfa_amr_claims', 'session_id = $1', session?.id)
    assert.equal(claims.length, 1)
  })

  for (const type of ['confirmation_token', 'recovery_token'] as const) {
    const kind = type === 'recovery_token' ? 'recovery' : 'signup'

    test(`a ${kind} mail of theirs is opened here, by link and by code`, async () => {
      for (const prefix of ['', 'pkce_']) {
        const byCode = await someone(kind === 'signup' ? { email_confirmed_at: null } : {})
        const { code } = await mailTo(pool, byCode.id, type, byCode.email, prefix)
        const typed = await verify(server.app, { type: kind, email: byCode.email, token: code })
        assert.equal(typed.statusCode, 200, typed.body)
      }
      const byLink = await someone(kind === 'signup' ? { email_confirmed_at: null } : {})
      const { hash } = await mailTo(pool, byLink.id, type, byLink.email)
      const opened = await call(server.app, `/verify?type=${kind}&token=${hash}`)
      assert.match(String(opened.headers.location), /#access_token=/)
      assert.equal(await openLink(pool, hash), undefined)
    })
  }

  test('a recovery mail of ours is opened there, once, and no more here', async () => {
    const email = newAddress()
    const { user } = await confirmedPerson(server, email)
    const message = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    const hash = String(new URL(linkIn(message)).searchParams.get('token'))
    assert.equal(await isCode(pool, email, codeIn(message), 'recovery_token'), true)

    assert.equal(await openLink(pool, hash), user.id)

    assert.equal(await openLink(pool, hash), undefined)
    for (const proof of [{ token_hash: hash }, { email, token: codeIn(message) }]) {
      const again = await verify(server.app, { type: 'recovery', ...proof })
      assert.deepEqual(outcomeOf(again), [403, 'otp_expired'])
    }
  })

  test('whatever is under way here, no null is in its way there', async () => {
    const email = newAddress()
    const person = await confirmedPerson(server, email)
    const factor = await addTotp(server.app, person)
    await challenge(server.app, person, factor.id)
    const flow = { code_challenge: 'x'.repeat(43), code_challenge_method: 's256' }
    await mailAfter(server, email, () => call(server.app, '/recover', { email, ...flow }))
    await changeUser(server.app, person.access_token, { email: newAddress(), ...flow })
    await anonymousPerson(server.app)
    const started = await call(server.app, '/authorize?provider=github')
    assert.equal(started.statusCode, 302, started.body)

    for (const table of tablesItReads) {
      const rows = await read(pool, table, 'true')
      assert.ok(rows.length > 0, table)
    }
  })

  test('people who signed up here are read there, with their factors', async () => {
    const email = newAddress()
    const person = await confirmedPerson(server, email)
    await prove(server.app, person, await addTotp(server.app, person))

    const [row] = await findByEmail(pool, email)

    assert.equal(row?.id, person.user.id)
    const identities = await read(pool, 'identities', 'user_id = $1', person.user.id)
    const factors = await read(pool, 'mfa_factors', 'user_id = $1', person.user.id)
    assert.deepEqual([identities.length, factors.length], [1, 1])
    assert.match(String(factors[0]?.secret), /^[A-Z2-7]{32}$/)
  })
})
