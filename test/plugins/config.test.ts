/** What @fastify/env makes of a configuration on the server's own instance. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import Fastify from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import config from '../../plugins/config.ts'
import { read } from '../config/environment.ts'

async function register(values: Config) {
  const app = Fastify()
  await app.register(config, { config: values })
  return app
}

suite('the configuration plugin', () => {
  test('decorates the server with the values, lists and maps included', async () => {
    const env = {
      AUTH_SMS_TEST_OTP_VALID_UNTIL: '2030-01-01T00:00:00Z',
      AUTH_RATE_LIMIT_EMAIL_SENT: '5/10m',
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_ENABLED: 'false',
      AUTH_JWT_EXP: '1h30m',
      AUTH_UNKNOWN: 'x',
    }
    const values = read(env).config
    const app = await register(values)
    const set = Object.entries(values).filter(([, value]) => value !== undefined)
    assert.deepEqual({ ...app.config }, Object.fromEntries(set))
    assert.equal(app.config.AUTH_JWT_EXP, 5400)
    assert.ok(!('AUTH_UNKNOWN' in app.config))
  })

  test('reads nothing from the environment of the process', async () => {
    process.env.AUTH_EXTERNAL_OIDC_LEAK_ISSUER = 'https://leak.test'
    const app = await register(read({}).config)
    delete process.env.AUTH_EXTERNAL_OIDC_LEAK_ISSUER
    assert.equal(app.config.AUTH_EXTERNAL_OIDC_LEAK_ISSUER, undefined)
  })

  test('accepts the defaults of every variable', async () => {
    await register(read({}).config)
    await register(read({}, true).config)
  })

  const wrong: [name: string, change: object, message: RegExp][] = [
    ['a value of another type', { PORT: '8081' }, /PORT must be integer/],
    ['a number out of its range', { AUTH_PASSWORD_MIN_LENGTH: 2 }, /AUTH_PASSWORD_MIN_LENGTH must/],
    ['a word that the variable does not accept', { LOG_LEVEL: 'loud' }, /LOG_LEVEL must be equal/],
    ['a variable that does not exist', { AUTH_NO_SUCH: 'x' }, /must NOT have additional/],
    ['a required variable without a value', { AUTH_SITE_URL: undefined }, /AUTH_SITE_URL/],
  ]
  for (const [name, change, message] of wrong) {
    test(`rejects ${name}`, async () => {
      const values: Config = Object.assign({ ...read({}).config }, change)
      await assert.rejects(register(values), message)
    })
  }

  test('rejects a wrong value without repeating a secret', async () => {
    const values: Config = Object.assign({ ...read({}).config }, { AUTH_JWT_SECRET: ['hunter2'] })
    await assert.rejects(register(values), (error) => !String(error).includes('hunter2'))
  })
})
