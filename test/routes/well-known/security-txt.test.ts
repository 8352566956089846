import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { ConfigError } from '../../../config/core/config-error.ts'
import { testConfig } from '../../support/config.ts'
import { build } from '../../support/server.ts'

const contact = {
  AUTH_SECURITY_TXT_CONTACT: 'mailto:security@example.com, https://example.com/report',
  AUTH_SECURITY_TXT_EXPIRES: '2030-01-01T00:00:00Z',
}

suite('GET /.well-known/security.txt', () => {
  test('returns the configured fields as plain text, under the API prefix as well', async (t) => {
    const { app } = await build(t, {
      env: {
        ...contact,
        AUTH_SECURITY_TXT_POLICY: 'https://example.com/policy',
        AUTH_SECURITY_TXT_ACKNOWLEDGMENTS: 'https://example.com/thanks',
        AUTH_SECURITY_TXT_ENCRYPTION: 'https://example.com/key.asc',
        AUTH_SECURITY_TXT_PREFERRED_LANGUAGES: 'en,pt-BR',
      },
    })
    for (const path of ['/.well-known/security.txt', '/auth/v1/.well-known/security.txt']) {
      const response = await app.inject(path)
      assert.equal(response.statusCode, 200)
      assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8')
      assert.deepEqual(response.body.split('\n'), [
        'Contact: mailto:security@example.com',
        'Contact: https://example.com/report',
        'Expires: 2030-01-01T00:00:00.000Z',
        'Encryption: https://example.com/key.asc',
        'Acknowledgments: https://example.com/thanks',
        'Preferred-Languages: en, pt-BR',
        'Canonical: http://auth.example/.well-known/security.txt',
        'Policy: https://example.com/policy',
        '',
      ])
    }
  })

  test('returns 404 without a configured contact', async (t) => {
    const { app } = await build(t)
    assert.equal((await app.inject('/.well-known/security.txt')).statusCode, 404)
  })

  const wrong: [name: string, env: Record<string, string>, problem: RegExp][] = [
    [
      'a contact without an expiry',
      { AUTH_SECURITY_TXT_CONTACT: 'mailto:security@example.com' },
      /AUTH_SECURITY_TXT_EXPIRES is not set/,
    ],
    [
      'a contact that is not a URI',
      { ...contact, AUTH_SECURITY_TXT_CONTACT: 'security@example.com' },
      /AUTH_SECURITY_TXT_CONTACT contains "security@example\.com"/,
    ],
    [
      'a contact with a line break',
      { ...contact, AUTH_SECURITY_TXT_CONTACT: 'mailto:a@example.com\nPolicy: https://x.example' },
      /AUTH_SECURITY_TXT_CONTACT contains/,
    ],
    [
      'an invalid language tag',
      { ...contact, AUTH_SECURITY_TXT_PREFERRED_LANGUAGES: 'en,deutsch please' },
      /AUTH_SECURITY_TXT_PREFERRED_LANGUAGES contains "deutsch please"/,
    ],
  ]
  for (const [name, env, problem] of wrong) {
    test(`rejects ${name} at the start`, () => {
      assert.throws(
        () => testConfig(env),
        (error) => error instanceof ConfigError && problem.test(error.message),
      )
    })
  }
})
