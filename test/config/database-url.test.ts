/** DATABASE_URL in the forms of libpq and pgx, and the normalized URL. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addressForPrograms } from '../../cli/backup/programs.ts'
import { databaseUrl } from '../../config/core/parse-database-url.ts'
import { readConfig } from '../../config/read-config.ts'
import { testConfig } from '../support/config.ts'
import { wrongVariables } from './environment.ts'

const read: [given: string, url: string][] = [
  ['postgres://u:p%40@h:5432/db', 'postgres://u:p%40@h:5432/db'],
  ['postgresql://h/db?sslmode=require', 'postgresql://h/db?sslmode=require'],
  ['postgres://[::1]:5/db', 'postgres://[::1]:5/db'],
  ['postgres://', 'postgres://'],
  [
    'postgres://u:p@h1:1,h2:2,h3/db?sslmode=require',
    'postgres://u:p@h1:1/db?postern_hosts=h1%3A1%2Ch2%3A2%2Ch3&sslmode=require',
  ],
  [
    'postgres://u@[::1]:5,[::2]/db',
    'postgres://u:@[::1]:5/db?postern_hosts=%5B%3A%3A1%5D%3A5%2C%5B%3A%3A2%5D',
  ],
  ['postgres://u@h/db?host=a,b&port=1,2', 'postgres://u:@a:1/db?postern_hosts=a%3A1%2Cb%3A2'],
  ['postgres:///db?host=/run/postgresql', 'postgres:///db?host=%2Frun%2Fpostgresql'],
  [
    'postgres://u:p%2Fx@/db?host=/run/postgresql&port=5433',
    'postgres:///db?host=%2Frun%2Fpostgresql&port=5433&user=u&password=p%2Fx',
  ],
  ['postgres://%2Frun%2Fpostgresql/db', 'postgres://%2Frun%2Fpostgresql/db'],
  [
    "host=db port=5432 user=po password='a \\'b@/' dbname=x sslmode=require",
    "postgres://po:a%20'b%40%2F@db:5432/x?sslmode=require",
  ],
  ['host=/run/postgresql dbname=x', 'postgres:///x?host=%2Frun%2Fpostgresql'],
  ['host=a,b port=1 user=u', 'postgres://u:@a:1/?postern_hosts=a%3A1%2Cb%3A1'],
  ['user = x', 'postgres:///?user=x'],
  [
    'postgres://u:p@h/db?application_name=a+b&dbname=other',
    'postgres://u:p@h/other?application_name=a%2Bb',
  ],
]

const unreadable = [
  'postgres://u:p#x@h/d',
  'postgres://h/a%zz',
  'postgres://u:p@h:99999/d',
  'mysql://x',
  'nonsense',
  "host='db",
  'host=a, b',
]

suite('DATABASE_URL', () => {
  for (const [given, url] of read) {
    test(`reads ${given}`, () => assert.equal(databaseUrl(given), url))
  }

  for (const given of unreadable) {
    test(`rejects ${given}`, () => assert.equal(databaseUrl(given), undefined))
  }

  test('passes all hosts and no parameter of its own to pg_dump', () => {
    const url = databaseUrl('postgres://u:secret@h1:1,h2/db?sslmode=require') ?? ''
    assert.equal(addressForPrograms(url), 'postgres://u@h1:1,h2/db?sslmode=require')
  })

  test('AUTH_DB_READ_URL and AUTH_DB_READ_URLS accept several connection strings', () => {
    const urls = ['postgres://u:a,b@h1/db', 'postgresql://u@h2:6432/db']
    for (const name of ['AUTH_DB_READ_URL', 'AUTH_DB_READ_URLS']) {
      const config = testConfig({ [name]: urls.join(', ') })
      assert.deepEqual(config.AUTH_DB_READ_URL, urls)
      assert.equal(config.AUTH_DB_READ_MAX_LAG, 10)
    }
    const { AUTH_DB_READ_URL } = testConfig({ AUTH_DB_READ_URL: 'host=h1 user=u dbname=db' })
    assert.deepEqual(AUTH_DB_READ_URL, ['postgres://u:@h1/db'])
    assert.deepEqual(testConfig().AUTH_DB_READ_URL, [])
  })

  for (const url of ['postgres://h1,h2/db', 'postgres://h/db?target_session_attrs=standby', 'h']) {
    test(`rejects AUTH_DB_READ_URL=${url}`, () => {
      assert.deepEqual(wrongVariables({ AUTH_DB_READ_URL: url }), ['AUTH_DB_READ_URL'])
    })
  }

  test('rejects AUTH_DB_READ_MAX_LAG below a second', () => {
    const wrong = wrongVariables({ AUTH_DB_READ_MAX_LAG: '100ms' })
    assert.deepEqual(wrong, ['AUTH_DB_READ_MAX_LAG'])
  })

  const modes: [mode: string, says: RegExp | undefined][] = [
    ['require', /sslmode=require: as in libpq, .* the server is not verified/],
    ['prefer', /sslmode=prefer: as in libpq, the connection may be unencrypted/],
    ['allow', /sslmode=allow: as in libpq/],
    ['verify-full', undefined],
    ['disable', undefined],
  ]
  for (const [mode, expectedText] of modes) {
    test(`sslmode=${mode} ${expectedText ? 'logs a warning' : 'logs no warning'}`, () => {
      const warnings: string[] = []
      const env = {
        AUTH_SITE_URL: 'http://app.example',
        AUTH_API_EXTERNAL_URL: 'http://auth.example',
        AUTH_DB_DRIVER: 'postgres',
        AUTH_JWT_SECRET: testConfig().AUTH_JWT_SECRET,
        DATABASE_URL: `postgres://h/db?sslmode=${mode}`,
      }
      readConfig(env, { dev: true, warn: (warning) => warnings.push(warning) })
      const about = warnings.filter((warning) => warning.startsWith('DATABASE_URL'))
      assert.equal(about.length, expectedText ? 1 : 0)
      if (expectedText) assert.match(about[0] ?? '', expectedText)
    })
  }

  for (const query of ['sslmode=verify-ca', 'sslmode=full', 'target_session_attrs=standby']) {
    test(`rejects the start with ${query}`, () => {
      const DATABASE_URL = `postgres://h/db?${query}`
      assert.deepEqual(wrongVariables({ DATABASE_URL }), ['DATABASE_URL'])
    })
  }
})
