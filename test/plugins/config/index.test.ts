import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import Fastify from 'fastify'

import config from '../../../plugins/config/index.ts'
import { read } from './environment.ts'

suite('config plugin', () => {
  test('fastify.config is the configuration, unchanged', async () => {
    const given = read({
      AUTH_SMS_TEST_OTP_VALID_UNTIL: '2030-01-01T00:00:00Z',
      AUTH_RATE_LIMIT_EMAIL_SENT: '5/10m',
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_ENABLED: 'false',
      AUTH_UNKNOWN: 'x',
    }).config
    const fastify = Fastify()
    await fastify.register(config, { config: given })
    assert.deepEqual(fastify.config, given)
    assert.ok(!('AUTH_UNKNOWN' in fastify.config))
  })

  test('the process environment does not leak in', async () => {
    process.env.AUTH_EXTERNAL_OIDC_LEAK_ISSUER = 'https://leak.test'
    const fastify = Fastify()
    await fastify.register(config, { config: read({}).config })
    delete process.env.AUTH_EXTERNAL_OIDC_LEAK_ISSUER
    assert.equal(fastify.config.AUTH_EXTERNAL_OIDC_LEAK_ISSUER, undefined)
  })
})
