/** A code or link works once, for its type, email and lifetime; all other requests get the same response. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminCall } from '../../../support/admin.ts'
import {
  emailAfter,
  emailedPath,
  emailedToken,
  open,
  redirectParams,
} from '../../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../../support/messages/mail-server.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../../support/requests.ts'
import type { Built } from '../../../support/server.ts'
import { confirmedUser, newAddress } from '../../../support/users.ts'

const rejected = { code: 403, error_code: 'otp_expired', msg: 'Token has expired or is invalid' }
const linkRejected = { ...rejected, msg: 'Email link is invalid or has expired' }

interface Recovery {
  server: Built
  email: string
  message: ReceivedMail
  /** The body that signs in with the typed code. */
  typed: { type: string; email: string; token: string }
  /** The body that signs in with the token of the link. */
  handed: { type: string; token_hash: string }
}

suite('POST /verify: invalid codes and links', () => {
  const servers = sharedServers()

  /** A user with a recovery email. */
  async function recovery(): Promise<Recovery> {
    const server = await servers()
    const email = newAddress()
    await confirmedUser(server, email)
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const type = 'recovery'
    const typed = { type, email, token: codeIn(message) }
    return { server, email, message, typed, handed: { type, token_hash: emailedToken(message) } }
  }

  const invalidCases: Record<
    string,
    (verification: Recovery, t: TestContext) => Promise<void> | void
  > = {
    'wrong digits': ({ typed }) => {
      typed.token = other(typed.token)
    },
    letters: ({ typed }) => {
      typed.token = 'abcdef'
    },
    'the email of another user': async ({ typed, server }) => {
      typed.email = newAddress()
      await confirmedUser(server, typed.email)
    },
    'an unknown email': ({ typed }) => {
      typed.email = newAddress()
    },
    'another type': ({ typed, handed }) => {
      typed.type = 'signup'
      handed.type = 'signup'
    },
    'the type of an email change': ({ typed, handed }) => {
      typed.type = 'email_change'
      handed.type = 'email_change'
    },
    'an altered token': ({ typed, handed }) => {
      typed.token = ` ${other(typed.token)} `
      handed.token_hash = flipped(handed.token_hash)
    },
    'a token with an added PKCE prefix': ({ typed, handed }) => {
      typed.token = other(typed.token)
      handed.token_hash = `pkce_${handed.token_hash}`
    },
    'a used code': async ({ server, typed }) => {
      assert.equal((await verify(server.app, typed)).statusCode, 200)
    },
    'a code whose link was opened': async ({ server, message }) => {
      assert.ok(redirectParams(await open(server.app, message)).fragment.access_token)
    },
    'a code replaced by a newer email': async ({ server, email }) => {
      await emailAfter(server, email, () => call(server.app, '/magiclink', { email }))
    },
    'an expired code': (_verification, t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 86_400_000 })
    },
    'a code sent to a former email of the user': async ({ server, email }) => {
      const { users } = await adminCall<{ users: { id: string }[] }>(
        server.app,
        'GET',
        `/admin/users?filter=${encodeURIComponent(email)}`,
      )
      const id = users[0]?.id
      await adminCall(server.app, 'PUT', `/admin/users/${id}`, { email: newAddress('moved') })
    },
    'the correct code after ten failed attempts': async ({ server, typed }) => {
      const wrong = { ...typed, token: other(typed.token) }
      for (let attempt = 0; attempt < 10; attempt++) await verify(server.app, wrong)
    },
  }

  /** These invalidate the typed code; the link stays valid. */
  const onlyCodes = new Set([
    'wrong digits',
    'letters',
    'the email of another user',
    'an unknown email',
  ])

  for (const [invalid, invalidate] of Object.entries(invalidCases)) {
    test(`rejects ${invalid} with the same response`, async (t) => {
      const verification = await recovery()
      await invalidate(verification, t)
      const typed = await verify(verification.server.app, verification.typed)
      const handed = await verify(verification.server.app, verification.handed)
      assert.deepEqual(typed.json(), rejected)
      if (onlyCodes.has(invalid)) return assert.equal(handed.statusCode, 200)
      assert.deepEqual(handed.json(), linkRejected)
      assert.deepEqual(pickHeaders(typed), pickHeaders(handed))
    })
  }

  test('rejects an email code for a phone and an SMS code for an email', async () => {
    const { app } = await servers()
    const email = newAddress()
    const message = await emailAfter(await servers(), email, () => call(app, '/otp', { email }))
    const token = codeIn(message)
    for (const body of [
      { type: 'sms', email, token },
      { type: 'phone_change', email, token },
      { type: 'signup', phone: '+15550100', token },
      { type: 'unknown', email, token },
      { type: 'constructor', email, token },
    ]) {
      assert.deepEqual((await verify(app, body)).json(), rejected)
    }
    const handed = await verify(app, { type: 'sms', token_hash: emailedToken(message) })
    assert.deepEqual(statusAndCode(handed), [400, 'validation_failed'])
    assert.equal((await verify(app, { type: 'signup', email, token })).statusCode, 200)
  })

  test('throttles attempts across codes of one email, known or not', async () => {
    const { app } = await servers()
    const known = newAddress()
    await confirmedUser(await servers(), known)
    for (const email of [known, newAddress()]) {
      const statuses = []
      for (let attempt = 0; attempt < 21; attempt++) {
        statuses.push((await verify(app, { type: 'email', email, token: '000000' })).statusCode)
      }
      assert.deepEqual(new Set(statuses.slice(0, 20)), new Set([403]))
      assert.equal(statuses[20], 429)
    }
  })

  test('invalidates a code after ten failed attempts, and not the next code', async () => {
    const { server, email, typed } = await recovery()
    for (let attempt = 0; attempt < 10; attempt++) {
      await verify(server.app, { ...typed, token: other(typed.token) })
    }
    assert.equal((await verify(server.app, typed)).statusCode, 403)
    const send = () => call(server.app, '/recover', { email })
    const token = codeIn(await emailAfter(server, email, send))
    assert.equal((await verify(server.app, { ...typed, token })).statusCode, 200)
  })

  const malformed: { body: object; status: number; msg?: string }[] = [
    { body: {}, status: 400 },
    { body: { type: 'signup' }, status: 400 },
    { body: { type: 'signup', token: '123456', token_hash: 'x' }, status: 400 },
    { body: { type: 'signup', token: '123456' }, status: 400 },
    { body: { type: 'signup', token: '1', email: 'a@b.c', phone: '1555' }, status: 400 },
    {
      body: { type: 'signup', token: '123456', email: 'nonsense' },
      status: 422,
      msg: 'Invalid email format',
    },
    { body: { type: 'sms', token: '123456', phone: 'nonsense' }, status: 400 },
    { body: { type: 'signup', token_hash: 'x', email: 'a@b.c' }, status: 400 },
    { body: { type: 'unknown', token_hash: 'x' }, status: 400 },
    { body: { type: 'unknown', token: 'a'.repeat(64) }, status: 400 },
    { body: { type: '__proto__', token_hash: 'x' }, status: 400 },
  ]
  for (const { body, status, msg } of malformed) {
    test(`returns ${status} for ${JSON.stringify(body)}`, async () => {
      const response = await verify((await servers()).app, body)
      assert.equal(response.statusCode, status)
      assert.equal(response.json().error_code, 'validation_failed')
      if (msg) assert.equal(response.json().msg, msg)
    })
  }

  test('returns user_banned only for the correct code and does not consume it', async () => {
    const { server, typed, handed, email } = await recovery()
    const [user] = await server.app.db
      .updateTable('users')
      .set({ banned_until: new Date(Date.now() + 3_600_000) })
      .where('email', '=', email)
      .returning('id')
      .execute()
    const wrong = { ...typed, token: other(typed.token) }
    assert.deepEqual((await verify(server.app, wrong)).json(), rejected)
    const right = await verify(server.app, typed)
    assert.equal(right.statusCode, 403)
    assert.equal(right.json().error_code, 'user_banned')
    await server.app.db
      .updateTable('users')
      .set({ banned_until: null })
      .where('id', '=', user?.id ?? '')
      .execute()
    assert.equal((await verify(server.app, handed)).statusCode, 200)
  })
})

suite('POST /verify: racing requests', () => {
  const servers = sharedServers()
  const ten = <T>(make: () => PromiseLike<T>) => Promise.all(Array.from({ length: 10 }, make))

  test('create one session with one code', async () => {
    const server = await servers()
    const email = newAddress()
    const message = await emailAfter(server, email, () => call(server.app, '/otp', { email }))
    const body = { type: 'signup', email, token: codeIn(message) }
    const responses = await ten(() => verify(server.app, body))
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [
      200,
      ...Array(9).fill(403),
    ])
    assert.equal(await countSessions(server, email), 1)
  })

  test('create one session with one link', async () => {
    const server = await servers()
    const email = newAddress()
    const message = await emailAfter(server, email, () => call(server.app, '/otp', { email }))
    const redirects = (await ten(() => open(server.app, message))).map(redirectParams)
    assert.equal(redirects.filter(({ fragment }) => fragment.access_token).length, 1)
    const errors = redirects.filter(({ fragment }) => fragment.error_code === 'otp_expired')
    assert.equal(errors.length, 9)
    assert.equal(await countSessions(server, email), 1)
  })

  test('cause no other error when link, code and new requests race', async () => {
    const server = await servers()
    const { app } = server
    const email = newAddress()
    const message = await emailAfter(server, email, () => call(app, '/otp', { email }))
    const path = emailedPath(linkIn(message))
    const body = { type: 'signup', email, token: codeIn(message) }
    const responses = await Promise.all([
      ...Array.from({ length: 4 }, () => verify(app, body)),
      ...Array.from({ length: 4 }, () => app.inject(path)),
      ...Array.from({ length: 4 }, () => call(app, '/otp', { email })),
      ...Array.from({ length: 4 }, () => call(app, '/recover', { email })),
    ])
    for (const { statusCode, headers } of responses) {
      assert.ok([200, 303, 403].includes(statusCode), String(statusCode))
      assert.doesNotMatch(String(headers.location ?? ''), /unexpected_failure/)
    }
    assert.ok((await countSessions(server, email)) <= 1)
  })

  test('create one session with one auth code', async () => {
    const server = await servers()
    const { app } = server
    const email = newAddress()
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }
    const message = await emailAfter(server, email, () =>
      call(app, '/otp', { email, ...challenge }),
    )
    const { query } = redirectParams(await open(app, message))
    const body = { auth_code: query.code, code_verifier: 'x'.repeat(43) }
    const responses = await ten(() => call(app, '/token?grant_type=pkce', body))
    const statuses = responses.map(({ statusCode }) => statusCode)
    assert.deepEqual(statuses.sort(), [200, ...Array(9).fill(404)])
  })
})

function other(code: string): string {
  return code === '000000' ? '111111' : '000000'
}

function flipped(token: string): string {
  return (token.startsWith('0') ? '1' : '0') + token.slice(1)
}

/** The headers of a rejection without those that differ per request. */
function pickHeaders({ headers }: { headers: Record<string, unknown> }) {
  const { date: _, 'x-request-id': __, 'content-length': ___, ...rest } = headers
  return rest
}

async function countSessions({ app }: Built, email: string): Promise<number> {
  const { n } = await app.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('users.email', '=', email)
    .executeTakeFirstOrThrow()
  return Number(n)
}
