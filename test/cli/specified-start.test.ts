/** The start as specified: five variables suffice, and all errors are reported before anything changes. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { ConfigError } from '../../config/core/config-error.ts'
import { createPino } from '../../plugins/observability/logger/index.ts'
import { probe } from '../../plugins/security/encryption-probe.ts'
import { poolSizeFor } from '../../server/connections.ts'
import { startServer } from '../../server.ts'
import { minimalEnvironment, read } from '../config/environment.ts'
import { query } from '../db/sql.ts'
import { encryptionKey, testConfig } from '../support/config.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { functionEnv } from '../support/webhooks/hook-functions.ts'

suite('start as specified', () => {
  test('starts on an empty database with the five required variables and warns about the key', async (t) => {
    const { url: DATABASE_URL } = await emptyDatabase(t)
    const { config, notices } = read({ ...minimalEnvironment, DATABASE_URL, PORT: '0' })

    const app = await startServer(config, createPino('fatal', { write() {} }))
    t.after(() => app.close())

    const ready = await fetch(`${app.listeningOrigin}/ready`)
    assert.equal(ready.status, 200)
    assert.deepEqual(
      notices.filter((notice) => notice.startsWith('AUTH_ENCRYPTION_KEY')),
      [
        'AUTH_ENCRYPTION_KEY is not set: secrets in the database are encrypted with a key derived from AUTH_JWT_SECRET, which therefore cannot be changed alone. `npm run keys -- encryption rotate` sets AUTH_ENCRYPTION_KEY (docs/operations.md).',
      ],
    )
  })

  test('does not warn when AUTH_ENCRYPTION_KEY is set', () => {
    const { notices } = read({ AUTH_ENCRYPTION_KEY: encryptionKey })
    assert.deepEqual(
      notices.filter((notice) => notice.includes('AUTH_ENCRYPTION_KEY')),
      [],
    )
  })

  test('rejects a wrong encryption key before migrating', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const first = await start({ DATABASE_URL, AUTH_ENCRYPTION_KEY: encryptionKey })
    await first.close()
    const rows = await query(
      DATABASE_URL,
      `select from auth.postern_encryption_probe where id = '${probe.id}'`,
    )
    assert.equal(rows.length, 1)
    const [newest] = await query(
      DATABASE_URL,
      `delete from auth.postern_migrations
       where name = (select max(name) from auth.postern_migrations) returning name`,
    )
    assert.ok(newest)

    const other = randomBytes(32).toString('base64url')
    await assert.rejects(start({ DATABASE_URL, AUTH_ENCRYPTION_KEY: other }), {
      name: 'DecryptionError',
    })

    const after = await query(
      DATABASE_URL,
      `select from auth.postern_migrations where name = '${newest.name}'`,
    )
    assert.deepEqual(after, [])
  })

  test('reports misspelt names together with other errors', () => {
    const { AUTH_JWT_SECRET, ...rest } = minimalEnvironment
    assert.throws(
      () =>
        read({
          ...rest,
          AUTH_JWT_SECRET: '',
          AUTH_JWT_SECRT: AUTH_JWT_SECRET,
          AUTH_JWT_EXPP: '60',
          AUTH_SMPT_HOST: 'mail.example.test',
        }),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(error.message.split('\n'), [
          'The configuration has one error:',
          '  AUTH_JWT_SECRET is not set (is AUTH_JWT_SECRT a typo?); it must be at least 32 bytes long, such as the output of `openssl rand -base64 48`.',
          'Unknown names:',
          '  AUTH_JWT_SECRT is not a known variable; did you mean AUTH_JWT_SECRET?',
          '  AUTH_JWT_EXPP is not a known variable; did you mean AUTH_JWT_EXP?',
          '  AUTH_SMPT_HOST is not a known variable; did you mean AUTH_SMTP_HOST?',
        ])
        return true
      },
    )
  })

  test('listens on IPv4 and IPv6 without AUTH_API_HOST', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const app = await start({ DATABASE_URL })
    t.after(() => app.close())
    const { port } = new URL(app.listeningOrigin)
    for (const host of ['127.0.0.1', '[::1]']) {
      assert.equal((await fetch(`http://${host}:${port}/health`)).status, 200, host)
    }
  })

  for (const [name, value] of [
    ['AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD', 'soon'],
    ['AUTH_SAML_EXTERNAL_URL', 'not a url'],
    ['AUTH_SAML_RATE_LIMIT_ASSERTION', 'many'],
    ['GOTRUE_SAML_EXTERNAL_URL', 'not a url'],
  ] as const) {
    test(`${name}=${value} is a notice while SAML is disabled`, () => {
      const { config, notices } = read({ [name]: value })
      assert.equal(config.AUTH_SAML_ENABLED, false)
      assert.ok(
        notices.some(
          (notice) =>
            notice.startsWith(`${name} is "${value}"; it must be `) &&
            notice.endsWith(': it is ignored because AUTH_SAML_ENABLED is not true.'),
        ),
        notices.join('\n'),
      )
    })

    test(`${name}=${value} is an error while SAML is enabled`, () => {
      assert.throws(() => read({ [name]: value, AUTH_SAML_ENABLED: 'true' }), ConfigError)
    })
  }
})

suite('AUTH_DB_MAX_POOL_SIZE', () => {
  const size = (env: Record<string, string>, room: number) => poolSizeFor(testConfig(env), room)

  test('defaults to the connection limit of Postgres, at most 100', () => {
    assert.equal(testConfig().AUTH_DB_MAX_POOL_SIZE, 0)
    assert.equal(size({}, 97), 94)
    assert.equal(size({}, 500), 100)
  })

  test('is shared by the workers of a process group', () => {
    assert.equal(size({ AUTH_WORKERS: '4' }, 97), 21)
  })

  test('reserves connections for database function hooks', () => {
    assert.equal(size(functionEnv('SEND_SMS', 'send'), 97), 62)
  })

  test('is used as configured, regardless of the limit of Postgres', () => {
    assert.equal(size({ AUTH_DB_MAX_POOL_SIZE: '500' }, 97), 500)
  })
})

function start(env: Record<string, string>) {
  return startServer(testConfig({ PORT: '0', ...env }, false), createPino('fatal', { write() {} }))
}
