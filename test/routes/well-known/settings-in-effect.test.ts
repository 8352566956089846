/** Effects of settings that no other test covers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'

import { runMigrations } from '../../../server/migrate.ts'
import { adminCall } from '../../support/admin.ts'
import { emptyDatabase } from '../../support/database.ts'
import { describe, externalServer, verifiedProfile } from '../../support/external.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedDatabase } from '../../support/processes/shared-database.ts'
import { call, getUser, verify } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import {
  adminToken,
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signUpUser,
} from '../../support/users.ts'
import { vendorServer } from '../../support/vendor-server.ts'

type Env = Record<string, string>

const rejections: [env: Env, body: object, status: number, code: string][] = [
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
  [{ AUTH_JWT_DEFAULT_GROUP_NAME: 'members' }, 'role', 'members'],
  [{ AUTH_JWT_ADMIN_GROUP_NAME: 'boss' }, 'role', 'authenticated'],
]

const pools: [setting: string, size: number][] = [
  ['0', 100],
  ['7', 7],
]

suite('settings in effect', () => {
  const database = sharedDatabase()
  const start = async (t: TestContext, env: Env) => build(t, { env, database: await database() })

  for (const [env, body, status, code] of rejections) {
    test(`${describeEnv(env)} rejects ${Object.values(body)} with ${code}`, async (t) => {
      const { app } = await start(t, env)
      const response = await call(app, '/signup', { email: newAddress(), ...body })
      assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
    })
  }

  for (const [env, secret] of accepted) {
    test(`${describeEnv(env)} accepts ${secret}`, async (t) => {
      const { app } = await start(t, { ...env, ...autoconfirm })
      const body = { email: newAddress(), password: secret }
      assert.equal((await call(app, '/signup', body)).statusCode, 200)
    })
  }

  for (const [env, claim, value] of claims) {
    test(`${describeEnv(env)} sets the claim ${claim} to ${value}`, async (t) => {
      const { app } = await start(t, { ...env, ...autoconfirm })
      const { access_token } = await signUpUser(app)
      assert.equal(decodeJwt(access_token)[claim], value)
    })
  }

  test('AUTH_JWT_EXP sets the lifetime of access tokens', async (t) => {
    const { app } = await start(t, { AUTH_JWT_EXP: '120', ...autoconfirm })
    const { access_token, expires_in } = await signUpUser(app)
    const { iat = 0, exp } = decodeJwt(access_token)
    assert.equal(expires_in, 120)
    assert.equal(exp, iat + 120)
  })

  for (const [setting, size] of pools) {
    test(`AUTH_DB_MAX_POOL_SIZE=${setting} limits the pool to ${size} connections`, async (t) => {
      const { app } = await start(t, { AUTH_DB_MAX_POOL_SIZE: setting })
      assert.equal(app.pool.options.max, size)
    })
  }

  test('AUTH_DB_MAX_POOL_SIZE limits connections when more requests race', async (t) => {
    const { app } = await start(t, { AUTH_DB_MAX_POOL_SIZE: '3', ...autoconfirm })
    const tokens = await Promise.all(Array.from({ length: 12 }, () => signUpUser(app)))
    const requested = tokens.map((user) => getUser(app, user))
    assert.ok(app.pool.totalCount <= 3, `${app.pool.totalCount}`)
    const statuses = (await Promise.all(requested)).map(({ statusCode }) => statusCode)
    assert.deepEqual(new Set(statuses), new Set([200]))
  })

  test('AUTH_DB_CONN_MAX_LIFETIME replaces older connections', async (t) => {
    const { app } = await start(t, { AUTH_DB_CONN_MAX_LIFETIME: '1s' })
    const client = await app.pool.connect()
    const removed = once(app.pool, 'remove')
    client.release()
    await removed
    assert.equal((await app.pool.query('select 1')).rowCount, 1)
  })

  test('AUTH_DB_CONN_MAX_IDLE_TIME closes idle connections unless 0', async (t) => {
    const { app } = await start(t, { AUTH_DB_CONN_MAX_IDLE_TIME: '100ms' })
    const removed = once(app.pool, 'remove')
    await app.pool.query('select 1')
    await removed
    const { app: caching } = await start(t, { AUTH_DB_CONN_MAX_IDLE_TIME: '0' })
    assert.equal(caching.pool.options.idleTimeoutMillis, 0)
  })

  test('AUTH_EXTERNAL_EMAIL_ENABLED=false allows sign-in through a provider', async (t) => {
    const env = { AUTH_EXTERNAL_EMAIL_ENABLED: 'false' }
    const { startSignIn, finishSignIn, fakes } = await externalServer(t, {
      env,
      database: await database(),
    })
    describe(fakes, 'github', verifiedProfile('ann@ex.test', '42'))
    assert.ok((await finishSignIn(await startSignIn('github'))).fragment.access_token)
  })

  test('AUTH_DB_NAMESPACE is the schema of the users', async (t) => {
    const { url } = await emptyDatabase(t)
    const log = { debug() {}, info() {}, warn() {} }
    await runMigrations({ connectionString: url, schema: 'members', log })
    const env = { DATABASE_URL: url, AUTH_DB_NAMESPACE: 'members', ...autoconfirm }
    const { app } = await build(t, { env })
    const { email } = await signUpUser(app)
    const { rows } = await app.pool.query('select email from members.users')
    assert.deepEqual(rows, [{ email }])
    // Its connections have to be closed before the database can be dropped.
    await app.close()
  })

  test('AUTH_MAILER_AUTOCONFIRM reports a taken email', async (t) => {
    const { app } = await start(t, autoconfirm)
    const { email } = await signUpUser(app)
    const response = await call(app, '/signup', { email, password: 'another password' })
    const { code, msg } = response.json()
    assert.deepEqual([response.statusCode, code, msg], [400, 400, 'User already registered'])
  })

  test('AUTH_SECURITY_CAPTCHA_TIMEOUT limits the wait for a silent provider', async (t) => {
    const vendor = await vendorServer(t, 'hang')
    const env = {
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
      AUTH_SECURITY_CAPTCHA_SECRET: 'word',
      AUTH_SECURITY_CAPTCHA_URL: vendor.url,
      // Time enough to reach the provider.
      AUTH_SECURITY_CAPTCHA_TIMEOUT: '2s',
      // The default is ten seconds.
      AUTH_API_MAX_REQUEST_DURATION: '9s',
    }
    const { app } = await start(t, env)
    const body = { email: newAddress(), password, captcha_token: 'token' }
    const response = await call(app, '/signup', body)
    assert.deepEqual([response.statusCode, vendor.seen.length > 0], [500, true])
  })

  const emailing = ['POST /signup', 'POST /magiclink', 'POST /recover', 'POST /otp']
  test('AUTH_RATE_LIMIT_EMAIL_SENT applies to each endpoint except admin endpoints', async (t) => {
    const { app } = await start(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '0' })
    const user = { email: newAddress(), password, email_confirm: true }
    await adminCall(app, 'POST', '/admin/users', user)
    const { access_token } = await signedIn(app, user.email)
    for (const endpoint of [...emailing, 'PUT /user']) {
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

  test('AUTH_MAILER_OTP_LENGTH sets the length of emailed codes', async (t) => {
    const server = await start(t, { AUTH_MAILER_OTP_LENGTH: '8' })
    const email = newAddress()
    const send = () => call(server.app, '/signup', { email, password })
    const token = codeIn(await emailAfter(server, email, send))
    assert.match(token, /^\d{8}$/)
    const signedUp = await verify(server.app, { type: 'signup', email, token })
    assert.equal(signedUp.statusCode, 200, signedUp.body)
  })

  test('AUTH_MAILER_OTP_EXP limits the lifetime of links and codes', async (t) => {
    const server = await start(t, { AUTH_MAILER_OTP_EXP: '90' })
    const verifications = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const email = newAddress(name)
        const send = () => call(server.app, '/signup', { email, password })
        return { type: 'signup', email, token: codeIn(await emailAfter(server, email, send)) }
      }),
    )
    const sentAt = Date.now()
    const statusAt = async (verification: object | undefined, seconds: number) => {
      t.mock.timers.enable({ apis: ['Date'], now: sentAt + seconds * 1000 })
      const { statusCode } = await verify(server.app, verification ?? {})
      t.mock.timers.reset()
      return statusCode
    }
    assert.equal(await statusAt(verifications[0], 60), 200)
    assert.equal(await statusAt(verifications[1], 91), 403)
  })

  const lifetimes: Env[] = [
    { AUTH_MAILER_OTP_EXP: '90.5', AUTH_SMS_OTP_EXP: '0.5' },
    { AUTH_MAILER_OTP_EXP: '100y', AUTH_SMS_OTP_EXP: '100y' },
  ]
  for (const env of lifetimes) {
    test(`${describeEnv(env)}: accepts the code for its purpose only`, async (t) => {
      const server = await start(t, env)
      const email = newAddress()
      const send = () => call(server.app, '/signup', { email, password })
      const token = codeIn(await emailAfter(server, email, send))
      const wrong = token === '123456' ? '654321' : '123456'
      assert.equal(
        (await verify(server.app, { type: 'signup', email, token: wrong })).statusCode,
        403,
      )
      const verified = await verify(server.app, { type: 'signup', email, token })
      assert.equal(verified.statusCode, 200, verified.body)
    })
  }

  test('AUTH_RATE_LIMIT_EMAIL_SENT=9999999999 never throttles', async (t) => {
    const { app } = await start(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '9999999999' })
    for (let mail = 0; mail < 3; mail++) {
      const pending = await call(app, '/otp', { email: newAddress() })
      assert.equal(pending.statusCode, 200, pending.body)
    }
  })
})

function describeEnv(env: Env): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}
