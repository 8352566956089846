/** CUSTOM_ACCESS_TOKEN: the operator's claims in every token of a person. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { endingOfSuite } from '../support/ending.ts'
import { addTotp, answer, ask, challenge, prove, send } from '../support/factors.ts'
import { type HookEvent, startHookReceiver } from '../support/hook-receiver.ts'
import { landing, mailAfter, pathOf, pkcePair } from '../support/mail-journeys.ts'
import { codeIn, linkIn } from '../support/mail-links.ts'
import {
  adminToken,
  anonymousPerson,
  autoconfirm,
  newPerson,
  signedIn,
  signIn,
} from '../support/people.ts'
import { call, getUser, outcomeOf, refresh, verify } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'

const open = { ...autoconfirm, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

type Claims = Record<string, unknown>
const claimsIn = (event: HookEvent) => Object(event.claims) as Claims
const withClaim = (event: HookEvent, more: Claims) => ({ claims: { ...claimsIn(event), ...more } })

suite('the custom access token hook over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    const one = { AUTH_DB_MAX_POOL_SIZE: '1' }
    const env = { ...open, ...one, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' }
    const { app, mail } = await build(ending, {
      env: { ...env, ...receiver.env('CUSTOM_ACCESS_TOKEN') },
    })
    receiver.answer((event) => withClaim(event, { tier: 'gold' }))
    return { receiver, app, mail }
  }

  /** Runs `act` while the hook answers so. */
  async function answering<T>(
    answer: Parameters<Awaited<ReturnType<typeof start>>['receiver']['answer']>[0],
    act: (app: App) => Promise<T>,
  ): Promise<T> {
    const { receiver, app } = await started
    receiver.answer(answer)
    try {
      return await act(app)
    } finally {
      receiver.answer((event) => withClaim(event, { tier: 'gold' }))
    }
  }

  test('is asked for every token, and told how the session came about', async () => {
    const { receiver, app } = await started
    const since = receiver.calls.length
    const { email } = await newPerson(app)
    const session = await signedIn(app, email)
    const refreshed: Session = (await refresh(app, session.refresh_token)).json()
    const guest = await anonymousPerson(app)
    const raised = await prove(app, refreshed, await addTotp(app, refreshed))

    const events = receiver.calls.slice(since).map(({ event }) => event)
    assert.deepEqual(
      events.map(({ authentication_method }) => authentication_method),
      ['password', 'password', 'token_refresh', 'anonymous', 'totp'],
    )
    for (const token of [session, refreshed, guest, raised]) {
      assert.equal(decodeJwt(token.access_token).tier, 'gold')
    }
    const first = events[0] ?? assert.fail()
    assert.equal(first.user_id, claimsIn(first).sub)
    assert.equal(first.metadata.name, 'customize-access-token')
    assert.equal((await getUser(app, raised)).statusCode, 200)
  })

  test('is asked for what a code, a link and a flow end in, too', async () => {
    const { receiver, app, mail } = await started
    const { email } = await newPerson(app)
    const server = { mail }
    const ask = (more = {}) =>
      mailAfter(server, email, () => call(app, '/recover', { email, ...more }))
    const token = codeIn(await ask())
    const typed: Session = (await verify(app, { type: 'recovery', email, token })).json()
    const opened = landing(await app.inject(pathOf(linkIn(await ask()))))
    const { verifier, fields } = pkcePair()
    const { query } = landing(await app.inject(pathOf(linkIn(await ask(fields)))))
    const exchange = { auth_code: query.code, code_verifier: verifier }
    const exchanged: Session = (await call(app, '/token?grant_type=pkce', exchange)).json()
    const tokens = [typed.access_token, opened.fragment.access_token, exchanged.access_token]
    for (const accessToken of tokens) assert.equal(decodeJwt(accessToken ?? '').tier, 'gold')
    const methods = receiver.calls.slice(-3).map(({ event }) => event.authentication_method)
    assert.deepEqual(methods, ['otp', 'otp', 'recovery'])
  })

  test('its claims take the place of ours', async () => {
    const session = await answering(
      (event) => {
        const { app_metadata: _, user_metadata: __, amr: ___, iss: ____, ...kept } = claimsIn(event)
        return { claims: { ...kept, role: 'editor', aud: ['a', 'b'] } }
      },
      (app) => newPerson(app),
    )
    const claims = decodeJwt(session.access_token)
    assert.equal(claims.role, 'editor')
    assert.deepEqual(claims.aud, ['a', 'b'])
    assert.ok(!('user_metadata' in claims) && !('amr' in claims))
    // Without it we would not know our own token.
    assert.equal(claims.iss, 'http://auth.example')
  })

  test('expires_in follows an exp that it changed', async () => {
    const session = await answering(
      (event) => withClaim(event, { exp: Number(claimsIn(event).iat) + 60 }),
      (app) => newPerson(app),
    )
    assert.equal(session.expires_in, 60)
    assert.equal(session.expires_at, decodeJwt(session.access_token).exp)
  })

  test('an admin in the place of a person stays one', async () => {
    const { app } = await started
    const { user } = await newPerson(app)
    const token = await adminToken(app)
    const path = `/admin/users/${user.id}/impersonate`
    const session: Session = await answering(
      (event) => withClaim(event, { act: undefined }),
      async () => (await call(app, path, {}, { token })).json(),
    )
    assert.deepEqual(decodeJwt(session.access_token).act, { sub: 'service_role' })
  })

  const required = [
    ...['aud', 'exp', 'iat', 'sub', 'email', 'phone', 'role', 'aal', 'session_id'],
    'is_anonymous',
  ]
  const wrong: [string, (event: HookEvent) => object][] = [
    ...required.map((name): [string, (event: HookEvent) => object] => [
      `without ${name}`,
      (event) => withClaim(event, { [name]: undefined }),
    ]),
    ...(
      [
        ['aud', 1],
        ['exp', 'soon'],
        ['iat', 1.5],
        ['nbf', 'now'],
        ['user_metadata', 'x'],
        ['app_metadata', []],
        ['amr', 'password'],
        ['role', 7],
        ['jti', 7],
        ['iss', 'https://elsewhere.example'],
      ] as const
    ).map(([name, value]): [string, (event: HookEvent) => object] => [
      `with ${name} as ${JSON.stringify(value)}`,
      (event) => withClaim(event, { [name]: value }),
    ]),
    ['without claims', () => ({})],
    ['with claims that are none', () => ({ claims: 'x' })],
  ]
  test('claims that no token can have are an error of 500', async () => {
    const { app } = await started
    const { email } = await newPerson(app)
    for (const [name, answer] of wrong) {
      const response = await answering(answer, () => signIn(app, { email }))
      assert.deepEqual(outcomeOf(response), [500, 'unexpected_failure'], name)
      assert.match(response.json().msg, /custom access token hook/, name)
    }
  })

  test('a refusal leaves no session behind', async () => {
    const { app } = await started
    const { user, email } = await newPerson(app)
    const before = await sessionsOf(app, user.id)
    const response = await answering({ error: { http_code: 403, message: 'Pay first' } }, () =>
      signIn(app, { email }),
    )
    assert.deepEqual(outcomeOf(response), [403, 'unknown'])
    assert.equal(response.json().msg, 'Pay first')
    assert.equal(await sessionsOf(app, user.id), before)
  })

  const refusal = { error: { http_code: 403, message: 'Pay first' } }

  test('a refusal after a second factor takes the whole of it back', async () => {
    const { receiver, app } = await started
    const person = await newPerson(app)
    const other = await signedIn(app, person.email)
    const factor = await addTotp(app, person)
    const { id: challenge_id } = await challenge(app, person, factor.id)
    const proof = { challenge_id, code: factor.code() }
    const refused = await answering(refusal, () => answer(app, person, factor.id, proof))
    assert.deepEqual(outcomeOf(refused), [403, 'unknown'])

    const { factors = [] } = (await getUser(app, person)).json<User>()
    assert.deepEqual(
      factors.map(({ status }) => status),
      ['unverified'],
    )
    assert.equal((await getUser(app, other)).statusCode, 200)
    const refreshed: Session = (await refresh(app, person.refresh_token)).json()
    assert.equal(decodeJwt(refreshed.access_token).aal, 'aal1')

    const since = receiver.calls.length
    const accepted = await answer(app, refreshed, factor.id, proof)
    assert.equal(accepted.statusCode, 200, accepted.body)
    const raised: Session = accepted.json()
    const { event } = receiver.calls[since] ?? assert.fail('the hook was not asked')
    assert.equal(claimsIn(event).aal, 'aal2')
    const { aal, amr, tier } = decodeJwt<{ aal: string; tier: string; amr: { method: string }[] }>(
      raised.access_token,
    )
    assert.deepEqual([aal, tier], ['aal2', 'gold'])
    assert.deepEqual(
      amr.map(({ method }) => method),
      ['totp', 'password'],
    )
  })

  test('a factor that is proven again is named once, by its latest proof', async () => {
    const { app } = await started
    const person = await newPerson(app)
    const factor = await addTotp(app, person)
    const again = await prove(app, await prove(app, person, factor), factor, 1)
    const { amr } = decodeJwt<{ amr: { method: string }[] }>(again.access_token)
    assert.deepEqual(
      amr.map(({ method }) => method),
      ['totp', 'password'],
    )
  })

  test('a refusal after a recovery code leaves the code unspent, and a wrong one is not asked about', async () => {
    const { receiver, app } = await started
    const person = await newPerson(app)
    const raised = await prove(app, person, await addTotp(app, person))
    const { codes } = await ask<{ codes: string[] }>(app, 'POST', '/factors/recovery_codes', raised)
    const low = await signedIn(app, person.email)
    const [code = ''] = codes
    const use = (typed: string) =>
      send(app, 'POST', '/factors/recovery_codes/verify', low, { code: typed })

    // More often than one may guess: a code that was refused by the hook is no guess.
    for (let i = 0; i < 11; i++) {
      assert.deepEqual(outcomeOf(await answering(refusal, () => use(code))), [403, 'unknown'])
    }
    const left = await ask<{ remaining: number }>(app, 'GET', '/factors/recovery_codes', low)
    assert.equal(left.remaining, codes.length)
    assert.equal((await getUser(app, raised)).statusCode, 200)
    const again: Session = (await refresh(app, low.refresh_token)).json()
    assert.equal(decodeJwt(again.access_token).aal, 'aal1')

    const since = receiver.calls.length
    assert.equal((await use('00000-00000')).statusCode, 422)
    assert.equal(receiver.calls.length, since)
    const spent = await use(code)
    assert.equal(spent.statusCode, 200, spent.body)
    assert.equal(decodeJwt(spent.json<Session>().access_token).aal, 'aal2')
  })

  test('a refused refresh does not spend the token', async () => {
    const { app } = await started
    const { refresh_token } = await newPerson(app)
    const refused = await answering({ error: { http_code: 403, message: 'Later' } }, () =>
      refresh(app, refresh_token),
    )
    assert.deepEqual(outcomeOf(refused), [403, 'unknown'])
    const again: Session = (await refresh(app, refresh_token)).json()
    assert.notEqual(again.refresh_token, refresh_token)
  })

  test('a refused answer to the token before takes nothing back', async () => {
    const { app } = await started
    const { refresh_token: before } = await newPerson(app)
    const { refresh_token: current }: Session = (await refresh(app, before)).json()
    const refused = await answering({ error: { http_code: 403, message: 'Later' } }, () =>
      refresh(app, before),
    )
    assert.deepEqual(outcomeOf(refused), [403, 'unknown'])
    assert.equal((await refresh(app, current)).statusCode, 200)
  })

  test('a token that it makes too long is refused', async () => {
    const { app } = await started
    const { email } = await newPerson(app)
    const response = await answering(
      (event) => withClaim(event, { books: 'x'.repeat(20_000) }),
      () => signIn(app, { email }),
    )
    assert.deepEqual(outcomeOf(response), [422, 'token_too_large'])
  })

  test('while it hangs, the one connection of the pool is free for everybody else', async () => {
    const { receiver, app } = await started
    const session = await newPerson(app)
    let hanging = Promise.withResolvers<() => void>()
    receiver.reply((event) => ({
      act: (response) => {
        const body = JSON.stringify(withClaim(event, {}))
        const type = { 'content-type': 'application/json' }
        hanging.resolve(() => void response.writeHead(200, type).end(body))
      },
    }))
    const asks = [
      () => signIn(app, session),
      () => call(app, '/signup', {}),
      () => refresh(app, session.refresh_token),
    ]
    for (const ask of asks) {
      hanging = Promise.withResolvers()
      const asked = ask()
      const answer = await hanging.promise
      assert.equal((await getUser(app, session)).statusCode, 200)
      answer()
      assert.equal((await asked).statusCode, 200)
    }
    receiver.answer((event) => withClaim(event, { tier: 'gold' }))
  })
})

async function sessionsOf(app: App, userId: string): Promise<number> {
  const { count } = await app.db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}
