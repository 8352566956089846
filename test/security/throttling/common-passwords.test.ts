/** Attackers try common passwords first: the 100,000 most common ones are rejected. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import {
  commonPasswords,
  createCommonPasswords,
  readCommonPasswords,
} from '../../../plugins/security/passwords/common-passwords.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { autoconfirm } from '../../support/users.ts'

const root = join(import.meta.dirname, '../../..')
const common = ['password', 'Password1', 'QWERTY123', 'iloveyou', '123456', 'trustno1', 'hunter2']
const uncommon = ['correct horse', 'correct horse battery', 'correct horse battery staple', 'x7_Lq']
const address = () => `${crypto.randomUUID()}@example.com`
const weak = {
  weak_password: { reasons: ['pwned'] },
  error_code: 'weak_password',
}

suite('common passwords', () => {
  const server = sharedServers()

  for (const password of common) {
    test(`rejects a sign-up with ${password}`, async () => {
      const { app } = await server(autoconfirm)
      const payload = { email: address(), password }
      const response = await app.inject({ method: 'POST', url: '/signup', payload })
      assert.equal(response.statusCode, 422, response.body)
      const { weak_password, error_code, msg } = response.json()
      assert.deepEqual({ weak_password, error_code }, weak)
      assert.match(msg, /known to be weak and easy to guess/)
    })
  }

  test('are rejected by each endpoint that sets a password', async () => {
    const { app, mail } = await server({})
    const email = address()
    const [password, chosen] = ['correct horse', 'letmein']
    const user = await adminCall(app, 'POST', '/admin/users', {
      email,
      password,
      email_confirm: true,
    })
    const url = '/token?grant_type=password'
    const signedIn = await app.inject({ method: 'POST', url, payload: { email, password } })
    const authorization = `Bearer ${signedIn.json().access_token}`
    await app.inject({ method: 'POST', url: '/otp', payload: { email: address() } })
    const other = address()
    await app.inject({ method: 'POST', url: '/otp', payload: { email: other } })
    const code = { type: 'email', email: other, token: codeIn(await mail.waitFor(other)) }
    const link = { type: 'signup', email: address(), password: chosen }
    const responses = {
      own: await app.inject({
        method: 'PUT',
        url: '/user',
        headers: { authorization },
        payload: { password: chosen },
      }),
      "an admin's": await asAdmin(app, 'PUT', `/admin/users/${user.id}`, { password: chosen }),
      'with a code': await app.inject({
        method: 'POST',
        url: '/verify',
        payload: { ...code, password: chosen },
      }),
      'in a link': await asAdmin(app, 'POST', '/admin/generate_link', link),
    }
    for (const [what, response] of Object.entries(responses)) {
      const { weak_password, error_code } = response.json()
      assert.deepEqual({ weak_password, error_code }, weak, `${what}: ${response.body}`)
    }
  })

  test('sign in when set earlier, with a weak_password warning', async () => {
    const { app } = await server({})
    const user = { email: address(), password: 'letmein', email_confirm: true }
    await adminCall(app, 'POST', '/admin/users', user)
    const url = '/token?grant_type=password'
    const response = await app.inject({ method: 'POST', url, payload: user })
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(response.json().weak_password.reasons, ['pwned'])
  })

  test('AUTH_PASSWORD_COMMON_LIST=false accepts common passwords', async () => {
    const { app } = await server({ ...autoconfirm, AUTH_PASSWORD_COMMON_LIST: 'false' })
    const payload = { email: address(), password: 'iloveyou' }
    const response = await app.inject({ method: 'POST', url: '/signup', payload })
    assert.equal(response.statusCode, 200, response.body)
  })
})

suite('common password list', () => {
  const { has } = createCommonPasswords(readCommonPasswords)

  test('contains 100,000 passwords, case-insensitively', () => {
    assert.equal(commonPasswords.count, 100_000)
    for (const password of common) {
      for (const form of [password, password.toLowerCase(), password.toUpperCase()]) {
        assert.ok(has(form), form)
      }
    }
  })

  test('contains no password of 15 or more characters', () => {
    for (const password of ['123456789012345', 'passwordpassword', 'qwertyuiopasdfghjkl']) {
      assert.ok(!has(password), password)
    }
  })

  test('contains no other password', () => {
    for (const password of uncommon) assert.ok(!has(password), password)
    // The list stores fingerprints, so a rare other password may collide.
    let wrong = 0
    for (let round = 0; round < 50_000; round++) {
      const digest = createHash('sha256').update(String(round)).digest('base64url')
      if (has(digest.slice(0, 12))) wrong++
    }
    assert.ok(wrong <= 1)
  })

  test('looks up any string without an error', () => {
    const odd = [
      '',
      ' ',
      '\0',
      '\ud800',
      'ü'.repeat(14),
      '密码密码密码',
      '😀😀😀',
      'a'.repeat(1_000_000),
    ]
    for (const password of odd) assert.equal(has(password), false)
  })

  test('is read on first use', () => {
    let reads = 0
    const list = createCommonPasswords(() => {
      reads += 1
      return Buffer.alloc(0)
    })
    assert.equal(list.has('longer than fourteen'), false)
    assert.equal(reads, 0)
    for (let round = 0; round < 3; round++) list.has('letmein')
    assert.equal(reads, 1)
  })

  test('allocates nothing per look-up', () => {
    const passwords = [...common, ...uncommon]
    const send = (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        for (let at = 0; at < passwords.length; at++) has(passwords[at] ?? '')
      }
    }
    // 55,000 look-ups per round; one small object each would be 880,000 bytes. Only compiled code allocates nothing,
    // and the compile time is unknown: one round of many has to show it.
    const grown = Array.from({ length: 20 }, () => {
      const before = process.memoryUsage().heapUsed
      send(5_000)
      return Math.abs(process.memoryUsage().heapUsed - before)
    })
    assert.ok(Math.min(...grown) < 300_000, `${Math.min(...grown)} bytes`)
  })

  test('contains none of the passwords in the documentation', () => {
    const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })]
    for (const page of pages) {
      const text = readFileSync(join(root, page), 'utf8')
      for (const [, password = ''] of text.matchAll(/"password": ?"([^"]+)"/g)) {
        assert.ok(!has(password), `${page}: ${password}`)
      }
    }
  })
})
