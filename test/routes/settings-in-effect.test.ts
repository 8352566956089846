/** What a setting of the specification does, where no other test is about it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { runMigrations } from '../../cli/migrate.ts'
import { adminCall } from '../support/admin.ts'
import { emptyDatabase } from '../support/database.ts'
import { describe, externalServer, proven } from '../support/external.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import {
  adminToken,
  autoconfirm,
  newAddress,
  newPerson,
  password,
  signedIn,
} from '../support/people.ts'
import { call, getUser, verify } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { vendorServer } from '../support/vendor-server.ts'

type Env = Record<string, string>

const refusals: [env: Env, body: object, status: number, code: string][] = [
  [{ AUTH_EXTERNAL_EMAIL_ENABLED: 'false' }, { password }, 400, 'email_provider_disabled'],
  [{ AUTH_DISABLE_SIGNUP: 'true' }, { password }, 422, 'signup_disabled'],
  [{ AUTH_PASSWORD_MIN_LENGTH: '12' }, { password: 'eleven char' }, 422, 'weak_password'],
  [{ AUTH_PASSWORD_REQUIRED_CHARACTERS: 'a:0123456789' }, { password }, 422, 'weak_password'],
  [{ AUTH_PASSWORD_REQUIRED_CHARACTERS: 'a:\\:' }, { password: 'abcdefgh' }, 422, 'weak_password'],
]

const accepted: [env: Env, password: string][] = [
  [{ AUTH_PASSWORD_MIN_LENGTH: '12' }, 'twelve-chars'],
  [{ AUTH_PASSWORD_REQUIRED_CHARACTERS: 'e:0123456789' }, 'correct horse 1'],
  [{ AUTH_PASSWORD_REQUIRED_CHARACTERS: 'e:\\:' }, 'correct: horse'],
]

const claims: [env: Env, claim: string, value: string][] = [
  [{ AUTH_JWT_AUD: 'team' }, 'aud', 'team'],
  [{ AUTH_JWT_DEFAULT_GROUP_NAME: 'people' }, 'role', 'people'],
  [{ AUTH_JWT_ADMIN_GROUP_NAME: 'boss' }, 'role', 'authenticated'],
]

const pools: [setting: string, size: number][] = [
  ['0', 100],
  ['7', 7],
]

suite('a setting in effect', () => {
  for (const [env, body, status, code] of refusals) {
    test(`${said(env)} refuses ${Object.values(body)} with ${code}`, async (t) => {
      const { app } = await build(t, { env })
      const response = await call(app, '/signup', { email: newAddress(), ...body })
      assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
    })
  }

  for (const [env, secret] of accepted) {
    test(`${said(env)} takes ${secret}`, async (t) => {
      const { app } = await build(t, { env: { ...env, ...autoconfirm } })
      const body = { email: newAddress(), password: secret }
      assert.equal((await call(app, '/signup', body)).statusCode, 200)
    })
  }

  for (const [env, claim, value] of claims) {
    test(`${said(env)} makes the claim ${claim} ${value}`, async (t) => {
      const { app } = await build(t, { env: { ...env, ...autoconfirm } })
      const { access_token } = await newPerson(app)
      assert.equal(decodeJwt(access_token)[claim], value)
    })
  }

  test('AUTH_JWT_EXP is the lifetime of access tokens', async (t) => {
    const { app } = await build(t, { env: { AUTH_JWT_EXP: '120', ...autoconfirm } })
    const { access_token, expires_in } = await newPerson(app)
    const { iat = 0, exp } = decodeJwt(access_token)
    assert.equal(expires_in, 120)
    assert.equal(exp, iat + 120)
  })

  for (const [setting, size] of pools) {
    test(`AUTH_DB_MAX_POOL_SIZE=${setting} opens ${size} connections at most`, async (t) => {
      const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: setting } })
      assert.equal(app.pool.options.max, size)
    })
  }

  test('AUTH_DB_MAX_POOL_SIZE holds while more is asked for at once', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '3', ...autoconfirm } })
    const tokens = await Promise.all(Array.from({ length: 12 }, () => newPerson(app)))
    const asked = tokens.map((person) => getUser(app, person))
    assert.ok(app.pool.totalCount <= 3, `${app.pool.totalCount}`)
    const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
    assert.deepEqual(new Set(statuses), new Set([200]))
  })

  test('AUTH_DB_CONN_MAX_LIFETIME replaces a connection that is that old', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_CONN_MAX_LIFETIME: '1s' } })
    const client = await app.pool.connect()
    const removed = once(app.pool, 'remove')
    client.release()
    await removed
    assert.equal((await app.pool.query('select 1')).rowCount, 1)
  })

  test('AUTH_DB_CONN_MAX_IDLE_TIME closes a connection that nobody used for so long; 0 keeps it', async (t) => {
    const { app } = await build(t, { env: { AUTH_DB_CONN_MAX_IDLE_TIME: '100ms' } })
    const removed = once(app.pool, 'remove')
    await app.pool.query('select 1')
    await removed
    const { app: keeping } = await build(t, { env: { AUTH_DB_CONN_MAX_IDLE_TIME: '0' } })
    assert.equal(keeping.pool.options.idleTimeoutMillis, 0)
  })

  test('AUTH_EXTERNAL_EMAIL_ENABLED=false leaves sign-in through a provider open', async (t) => {
    const env = { AUTH_EXTERNAL_EMAIL_ENABLED: 'false' }
    const { goTo, comeBack, fakes } = await externalServer(t, { env })
    describe(fakes, 'github', proven('ann@ex.test', '42'))
    assert.ok((await comeBack(await goTo('github'))).fragment.access_token)
  })

  test('AUTH_DB_NAMESPACE is where people are kept', async (t) => {
    const { url } = await emptyDatabase(t)
    const log = { debug() {}, info() {}, warn() {} }
    await runMigrations({ connectionString: url, schema: 'people', log })
    const env = { DATABASE_URL: url, AUTH_DB_NAMESPACE: 'people', ...autoconfirm }
    const { app } = await build(t, { env })
    const { email } = await newPerson(app)
    const { rows } = await app.pool.query('select email from people.users')
    assert.deepEqual(rows, [{ email }])
    // Its connections have to be closed before the database can go.
    await app.close()
  })

  test('AUTH_MAILER_AUTOCONFIRM tells that an address is taken', async (t) => {
    const { app } = await build(t, { env: autoconfirm })
    const { email } = await newPerson(app)
    const response = await call(app, '/signup', { email, password: 'another password' })
    const { code, msg } = response.json()
    assert.deepEqual([response.statusCode, code, msg], [400, 400, 'User already registered'])
  })

  test('AUTH_SECURITY_CAPTCHA_TIMEOUT is how long a silent provider is waited for', async (t) => {
    const vendor = await vendorServer(t, 'hang')
    const env = {
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
      AUTH_SECURITY_CAPTCHA_SECRET: 'word',
      AUTH_SECURITY_CAPTCHA_URL: vendor.url,
      AUTH_SECURITY_CAPTCHA_TIMEOUT: '200ms',
      // Without it, a provider is given ten seconds.
      AUTH_API_MAX_REQUEST_DURATION: '9s',
    }
    const { app } = await build(t, { env })
    const body = { email: newAddress(), password, captcha_token: 'token' }
    const response = await call(app, '/signup', body)
    assert.deepEqual([response.statusCode, vendor.seen.length > 0], [500, true])
  })

  const mailing = ['POST /signup', 'POST /magiclink', 'POST /recover', 'POST /otp']
  test('AUTH_RATE_LIMIT_EMAIL_SENT holds for each endpoint but those of admins', async (t) => {
    const { app } = await build(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '0' } })
    const person = { email: newAddress(), password, email_confirm: true }
    await adminCall(app, 'POST', '/admin/users', person)
    const { access_token } = await signedIn(app, person.email)
    for (const endpoint of [...mailing, 'PUT /user']) {
      const [method, path = ''] = endpoint.split(' ')
      const isPut = method === 'PUT'
      const options = isPut ? { token: access_token, method: 'PUT' as const } : {}
      const body = { email: newAddress(), ...(path === '/signup' && { password }) }
      const response = await call(app, path, body, options)
      const { error_code } = response.json()
      assert.deepEqual([response.statusCode, error_code], [429, 'over_email_send_rate_limit'], path)
    }
    const token = await adminToken(app)
    const invited = await call(app, '/invite', { email: newAddress() }, { token })
    assert.equal(invited.statusCode, 200)
  })

  test('AUTH_MAILER_OTP_LENGTH is how many digits a mailed code has', async (t) => {
    const server = await build(t, { env: { AUTH_MAILER_OTP_LENGTH: '8' } })
    const email = newAddress()
    const ask = () => call(server.app, '/signup', { email, password })
    const token = codeIn(await mailAfter(server, email, ask))
    assert.match(token, /^\d{8}$/)
    const signedUp = await verify(server.app, { type: 'signup', email, token })
    assert.equal(signedUp.statusCode, 200, signedUp.body)
  })

  test('AUTH_MAILER_OTP_EXP ends links and codes', async (t) => {
    const server = await build(t, { env: { AUTH_MAILER_OTP_EXP: '90' } })
    const proofs = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const email = newAddress(name)
        const ask = () => call(server.app, '/signup', { email, password })
        return { type: 'signup', email, token: codeIn(await mailAfter(server, email, ask)) }
      }),
    )
    const sentAt = Date.now()
    const statusAt = async (proof: object | undefined, seconds: number) => {
      t.mock.timers.enable({ apis: ['Date'], now: sentAt + seconds * 1000 })
      const { statusCode } = await verify(server.app, proof ?? {})
      t.mock.timers.reset()
      return statusCode
    }
    assert.equal(await statusAt(proofs[0], 60), 200)
    assert.equal(await statusAt(proofs[1], 91), 403)
  })

  const lifetimes: Env[] = [
    { AUTH_MAILER_OTP_EXP: '90.5', AUTH_SMS_OTP_EXP: '0.5' },
    { AUTH_MAILER_OTP_EXP: '100y', AUTH_SMS_OTP_EXP: '100y' },
  ]
  for (const env of lifetimes) {
    test(`${said(env)}: a code proves what it is for`, async (t) => {
      const server = await build(t, { env })
      const email = newAddress()
      const ask = () => call(server.app, '/signup', { email, password })
      const token = codeIn(await mailAfter(server, email, ask))
      const wrong = token === '123456' ? '654321' : '123456'
      assert.equal(
        (await verify(server.app, { type: 'signup', email, token: wrong })).statusCode,
        403,
      )
      const proven = await verify(server.app, { type: 'signup', email, token })
      assert.equal(proven.statusCode, 200, proven.body)
    })
  }

  test('AUTH_RATE_LIMIT_EMAIL_SENT=9999999999 stops nobody', async (t) => {
    const { app } = await build(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '9999999999' } })
    for (let mail = 0; mail < 3; mail++) {
      const asked = await call(app, '/otp', { email: newAddress() })
      assert.equal(asked.statusCode, 200, asked.body)
    }
  })
})

function said(env: Env): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}
