/** A proof works once, for its own purpose, its own address and its own time; every other one gets one answer. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import { landing, mailAfter, open, pathOf, tokenOf } from '../../support/mail-journeys.ts'
import { codeIn, linkIn } from '../../support/mail-links.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { confirmedPerson, newAddress } from '../../support/people.ts'
import { call, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const refused = { code: 403, error_code: 'otp_expired', msg: 'Token has expired or is invalid' }
const linkRefused = { ...refused, msg: 'Email link is invalid or has expired' }

interface Recovery {
  server: Built
  email: string
  message: ReceivedMail
  /** The body that signs in with the typed code. */
  typed: { type: string; email: string; token: string }
  /** The body that signs in with the token of the link. */
  handed: { type: string; token_hash: string }
}

suite('a proof that is not good', () => {
  const servers = sharedServers()

  /** Somebody who has asked for a recovery mail and has it. */
  async function recovery(): Promise<Recovery> {
    const server = await servers()
    const email = newAddress()
    await confirmedPerson(server, email)
    const message = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    const type = 'recovery'
    const typed = { type, email, token: codeIn(message) }
    return { server, email, message, typed, handed: { type, token_hash: tokenOf(message) } }
  }

  const mistakes: Record<string, (proof: Recovery, t: TestContext) => Promise<void> | void> = {
    'other digits': ({ typed }) => {
      typed.token = other(typed.token)
    },
    'no digits at all': ({ typed }) => {
      typed.token = 'abcdef'
    },
    'the address of somebody else': async ({ typed, server }) => {
      typed.email = newAddress()
      await confirmedPerson(server, typed.email)
    },
    'an address that nobody has': ({ typed }) => {
      typed.email = newAddress()
    },
    "another purpose's type": ({ typed, handed }) => {
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
    'a token with the prefix of PKCE in front': ({ typed, handed }) => {
      typed.token = other(typed.token)
      handed.token_hash = `pkce_${handed.token_hash}`
    },
    'one that was used': async ({ server, typed }) => {
      assert.equal((await verify(server.app, typed)).statusCode, 200)
    },
    'one whose link was opened': async ({ server, message }) => {
      assert.ok(landing(await open(server.app, message)).fragment.access_token)
    },
    'one that a newer mail replaced': async ({ server, email }) => {
      await mailAfter(server, email, () => call(server.app, '/magiclink', { email }))
    },
    'one past its lifetime': (_proof, t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 86_400_000 })
    },
    'one mailed to an address the person no longer has': async ({ server, email }) => {
      const { users } = await adminCall<{ users: { id: string }[] }>(
        server.app,
        'GET',
        `/admin/users?filter=${encodeURIComponent(email)}`,
      )
      const id = users[0]?.id
      await adminCall(server.app, 'PUT', `/admin/users/${id}`, { email: newAddress('moved') })
    },
    'the eleventh guess, though it is right': async ({ server, typed }) => {
      const wrong = { ...typed, token: other(typed.token) }
      for (let guess = 0; guess < 10; guess++) await verify(server.app, wrong)
    },
  }

  /** These spoil what was typed; the link stays good. */
  const onlyTyped = new Set([
    'other digits',
    'no digits at all',
    'the address of somebody else',
    'an address that nobody has',
  ])

  for (const [mistake, spoil] of Object.entries(mistakes)) {
    test(`${mistake}: refused like every other`, async (t) => {
      const proof = await recovery()
      await spoil(proof, t)
      const typed = await verify(proof.server.app, proof.typed)
      const handed = await verify(proof.server.app, proof.handed)
      assert.deepEqual(typed.json(), refused)
      if (onlyTyped.has(mistake)) return assert.equal(handed.statusCode, 200)
      assert.deepEqual(handed.json(), linkRefused)
      assert.deepEqual(headersOf(typed), headersOf(handed))
    })
  }

  test('a code for a phone is none for a mailbox, and the other way round', async () => {
    const { app } = await servers()
    const email = newAddress()
    const message = await mailAfter(await servers(), email, () => call(app, '/otp', { email }))
    const token = codeIn(message)
    for (const body of [
      { type: 'sms', email, token },
      { type: 'phone_change', email, token },
      { type: 'signup', phone: '+15550100', token },
      { type: 'unknown', email, token },
      { type: 'constructor', email, token },
    ]) {
      assert.deepEqual((await verify(app, body)).json(), refused)
    }
    const handed = await verify(app, { type: 'sms', token_hash: tokenOf(message) })
    assert.deepEqual(handed.json(), linkRefused)
    assert.equal((await verify(app, { type: 'signup', email, token })).statusCode, 200)
  })

  test('guesses at many codes of one address are slowed, known address or not', async () => {
    const { app } = await servers()
    const known = newAddress()
    await confirmedPerson(await servers(), known)
    for (const email of [known, newAddress()]) {
      const statuses = []
      for (let guess = 0; guess < 21; guess++) {
        statuses.push((await verify(app, { type: 'email', email, token: '000000' })).statusCode)
      }
      assert.deepEqual(new Set(statuses.slice(0, 20)), new Set([403]))
      assert.equal(statuses[20], 429)
    }
  })

  test('ten wrong guesses void a code, and not the next one', async () => {
    const { server, email, typed } = await recovery()
    for (let guess = 0; guess < 10; guess++) {
      await verify(server.app, { ...typed, token: other(typed.token) })
    }
    assert.equal((await verify(server.app, typed)).statusCode, 403)
    const ask = () => call(server.app, '/recover', { email })
    const token = codeIn(await mailAfter(server, email, ask))
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
    test(`${JSON.stringify(body)} is answered ${status}`, async () => {
      const response = await verify((await servers()).app, body)
      assert.equal(response.statusCode, status)
      assert.equal(response.json().error_code, 'validation_failed')
      if (msg) assert.equal(response.json().msg, msg)
    })
  }

  test('a banned person is told so only with the right proof, which stays unspent', async () => {
    const { server, typed, handed, email } = await recovery()
    const [user] = await server.app.db
      .updateTable('users')
      .set({ banned_until: new Date(Date.now() + 3_600_000) })
      .where('email', '=', email)
      .returning('id')
      .execute()
    const wrong = { ...typed, token: other(typed.token) }
    assert.deepEqual((await verify(server.app, wrong)).json(), refused)
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

suite('ten racing requests', () => {
  const servers = sharedServers()
  const ten = <T>(make: () => PromiseLike<T>) => Promise.all(Array.from({ length: 10 }, make))

  test('with one code open one session', async () => {
    const server = await servers()
    const email = newAddress()
    const message = await mailAfter(server, email, () => call(server.app, '/otp', { email }))
    const body = { type: 'signup', email, token: codeIn(message) }
    const responses = await ten(() => verify(server.app, body))
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [
      200,
      ...Array(9).fill(403),
    ])
    assert.equal(await sessionsOf(server, email), 1)
  })

  test('with one link open one session', async () => {
    const server = await servers()
    const email = newAddress()
    const message = await mailAfter(server, email, () => call(server.app, '/otp', { email }))
    const landings = (await ten(() => open(server.app, message))).map(landing)
    assert.equal(landings.filter(({ fragment }) => fragment.access_token).length, 1)
    const errors = landings.filter(({ fragment }) => fragment.error_code === 'otp_expired')
    assert.equal(errors.length, 9)
    assert.equal(await sessionsOf(server, email), 1)
  })

  test('with a link and its code, mixed with new requests for a mail, never fail otherwise', async () => {
    const server = await servers()
    const { app } = server
    const email = newAddress()
    const message = await mailAfter(server, email, () => call(app, '/otp', { email }))
    const path = pathOf(linkIn(message))
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
    assert.ok((await sessionsOf(server, email)) <= 1)
  })

  test('with one auth code open one session', async () => {
    const server = await servers()
    const { app } = server
    const email = newAddress()
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }
    const message = await mailAfter(server, email, () => call(app, '/otp', { email, ...challenge }))
    const { query } = landing(await open(app, message))
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

/** What a refusal's headers tell, without those that are new for every request. */
function headersOf({ headers }: { headers: Record<string, unknown> }) {
  const { date: _, 'x-request-id': __, 'content-length': ___, ...rest } = headers
  return rest
}

async function sessionsOf({ app }: Built, email: string): Promise<number> {
  const { n } = await app.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('users.email', '=', email)
    .executeTakeFirstOrThrow()
  return Number(n)
}
